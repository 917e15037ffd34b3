// A device whose flash and store fail as a test says, in front of a platform that takes points.
import { Agent, type AgentOptions, type Host } from "../../../../src/index.js";
import { Power } from "../../../fakes/power.js";
import { PoweredDevice } from "../../../fakes/powered-device.js";
import { serve } from "../../../fakes/server.js";

const STEP_MS = 250;

interface Point {
  readonly ts: number;
  readonly values: Record<string, number>;
}

/** A device and what it keeps; the platform is there as long as `up`. */
export class Device extends PoweredDevice {
  readonly arrived = new Set<number>();
  /** As reported to the platform last, by key. */
  readonly dropped: Record<string, number> = {};
  up = false;
  /** What it answers to a POST; what is refused has not arrived. */
  status = 200;
  recorded = 0;
  host!: Host;
  agent!: Agent;
  #power = new Power();

  constructor(sectors = 16) {
    super({ sectors, sectorSize: 512 });
    serve(this.net, ({ method, path, body, reply }) => {
      const status = method === "POST" ? this.status : 200;
      if (status === 200 && path.endsWith("telemetry")) this.#take(JSON.parse(body));
      reply(status, method === "GET" ? "{}" : "");
    });
    const serves = this.net.onConnect;
    this.net.onConnect = (peer) => {
      if (this.up) return serves?.(peer) as false | undefined;
      peer.reset("connection refused");
      return false;
    };
  }

  #take(body: Point | Point[]): void {
    for (const { values } of Array.isArray(body) ? body : [body]) {
      if (values.n !== undefined) this.arrived.add(values.n);
      for (const key of Object.keys(values)) if (key.startsWith("mote")) this.dropped[key] = values[key]!;
    }
  }

  /** The agent of the next start, started. */
  boot(options: Partial<AgentOptions> = {}): Agent {
    this.#power = new Power();
    this.host = this.start(this.#power);
    this.agent = new Agent(this.host, { baseUrl: "http://platform.test", token: "TOKEN", ...options });
    this.agent.start();
    return this.agent;
  }

  /** Records a point every 250 ms for `ms`. */
  async record(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.agent.telemetry.record({ n: this.recorded++ });
      await this.clock.advance(STEP_MS);
    }
  }

  /** As by SIGTERM: the process is gone afterwards. Returns the lost points. */
  async stop(): Promise<number> {
    const stopped = this.agent.stop();
    await this.clock.advance(3000);
    const { lostPoints } = await stopped;
    this.gone();
    return lostPoints;
  }

  /** As by a power loss. */
  gone(): void {
    this.#power.off();
  }

  /** The next start, with a platform: how many points neither arrived nor were counted. */
  async lost(): Promise<number> {
    this.up = true;
    this.boot();
    await this.clock.advance(10 * 60_000);
    const counted = Object.values(this.dropped).reduce((sum, points) => sum + points, 0);
    return this.recorded - this.arrived.size - counted;
  }
}
