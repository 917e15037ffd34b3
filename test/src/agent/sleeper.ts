// A device that is started again for each wake, on what the one before kept, and sleeps in between.
import type { ExecutionContext } from "ava";
import type { Agent, AgentOptions, Wake, WakeOptions } from "../../../src/index.js";
import { type Rig, startRig } from "./rig.js";

export class Sleeper {
  readonly rig: Rig;
  /** Called with each new agent before its wake. */
  setUp: (agent: Agent) => void = () => {};
  kept: string | undefined;
  last: Wake | undefined;
  #options: Partial<AgentOptions>;
  #n = 0;

  constructor(t: ExecutionContext, options: Partial<AgentOptions> = {}) {
    this.rig = startRig(t);
    this.#options = options;
  }

  /** One wake and the sleep after it. */
  async wake(options: WakeOptions = {}): Promise<Wake> {
    const agent = this.boot();
    const wake = await this.run(agent, { sample: () => ({ n: this.#n++ }), kept: this.kept, ...options });
    this.kept = wake.kept;
    await this.rig.clock.advance(wake.sleepMs);
    return wake;
  }

  /** The agent of the next wake. */
  boot(): Agent {
    const agent = this.rig.agent(this.#options);
    this.setUp(agent);
    return agent;
  }

  async run(agent: Agent, options: WakeOptions): Promise<Wake> {
    this.last = await this.rig.clock.untilSettled(agent.runOnce(options));
    return this.last;
  }

  async wakes(count: number, options: WakeOptions = {}): Promise<Wake[]> {
    const all: Wake[] = [];
    for (let i = 0; i < count; i++) all.push(await this.wake(options));
    return all;
  }

  /** Numbers of the points on the platform, by time stamp. */
  get points(): unknown[] {
    return this.rig.platform.points(this.rig.device, "n").map(({ value }) => value);
  }
}
