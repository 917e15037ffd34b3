// Wakes of a device that sleeps in between.
import type { ExecutionContext } from "ava";
import type { Mode } from "../../hosts/platform/device/modes.js";
import type { Agent, AgentOptions, Wake, WakeOptions } from "../../src/index.js";
import { NAME, type Rig, startRig, test } from "./rig.js";

const MINUTE = 60_000;

/** A device that is started anew for each wake, on what the one before kept, and sleeps in between. */
class Sleeper {
  readonly rig: Rig;
  /** Called with each new agent before its wake. */
  setUp: (agent: Agent) => void = () => {};
  kept: string | undefined;
  last: Wake | undefined;
  #options: Partial<AgentOptions>;
  #n = 0;

  constructor(t: ExecutionContext, as: Mode, options: Partial<AgentOptions> = {}) {
    this.rig = startRig(t, as);
    this.#options = options;
  }

  /** One wake and the sleep after it. */
  async wake(options: WakeOptions = {}): Promise<Wake> {
    const agent = this.rig.agent(this.#options);
    this.setUp(agent);
    const wake = await this.run(agent, { sample: () => ({ n: this.#n++ }), kept: this.kept, ...options });
    this.kept = wake.kept;
    await this.rig.clock.advance(wake.sleepMs);
    return wake;
  }

  async run(agent: Agent, options: WakeOptions): Promise<Wake> {
    let wake: Wake | undefined;
    let failure: unknown;
    agent.runOnce(options).then(
      (ended) => {
        wake = ended;
      },
      (error) => {
        failure = error;
      },
    );
    await this.rig.clock.runUntil(() => wake !== undefined || failure !== undefined);
    if (failure) throw failure;
    this.last = wake;
    return wake as Wake;
  }

  async wakes(count: number, options: WakeOptions = {}): Promise<Wake[]> {
    const all: Wake[] = [];
    for (let i = 0; i < count; i++) all.push(await this.wake(options));
    return all;
  }

  /** Numbers of the points on the platform, by time stamp. */
  get points(): unknown[] {
    return this.rig.platform.points(this.rig.platform.device(NAME), "n").map(({ value }) => value);
  }
}

test("the first wake connects, the others record only, until one is due; all points arrive", async (t, as) => {
  const device = new Sleeper(t, as, { cycle: { everyMs: MINUTE, connectEvery: 10 } });
  const first = await device.wake();
  t.is(first.reason, "start");
  t.true(first.connected && first.settled);
  t.deepEqual([first.delivered, first.waiting], [1, 0]);
  const wakes = await device.wakes(40);
  const connected = wakes.flatMap(({ reason }, i) => (reason === "schedule" ? [i] : []));
  t.true(connected.length >= 4, `${connected}`);
  for (const gap of connected.slice(1).map((at, i) => at - connected[i]!)) t.is(gap, 10);
  const others = wakes.filter(({ reason }) => reason === "none");
  t.true(others.every(({ radioMs, connected: on }) => radioMs === 0 && !on));
  const arrived = device.points;
  t.deepEqual(arrived, [...Array(arrived.length).keys()]);
  t.is(arrived.length + device.last!.waiting, 41);
});
