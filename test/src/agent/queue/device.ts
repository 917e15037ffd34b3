// A device whose flash and store fail as a test says, in front of a platform that takes points.
import { Agent, type AgentOptions, type Host } from "../../../../src/index.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";
import { FakeNet } from "../../../fakes/net.js";
import { serve } from "../../../fakes/server.js";

const STEP_MS = 250;

interface Point {
  readonly ts: number;
  readonly values: Record<string, number>;
}

/** A device and what it keeps; the platform is there as long as `up`. */
export class Device {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly net = new FakeNet(this.clock);
  readonly store = new FakeStore();
  readonly blocks: FakeFlash;
  readonly arrived = new Set<number>();
  /** As reported to the platform last, by key. */
  readonly dropped: Record<string, number> = {};
  up = false;
  /** What it answers to a POST; what is refused has not arrived. */
  status = 200;
  recorded = 0;
  host!: Host;
  agent!: Agent;
  #life = { on: true };

  constructor(sectors = 16) {
    this.blocks = new FakeFlash(sectors * 512, 512);
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

  /** A start on what was kept. */
  start(options: Partial<AgentOptions> = {}): Agent {
    const { clock, net: network, store, blocks } = this;
    const life = { on: true };
    this.#life = life;
    this.host = {
      ...fakeHost({ clock, network, store, blocks }),
      open: (...address) =>
        life.on ? network.open(...address) : { write: () => 0, read: () => 0, close: () => {} },
      store: {
        get: (key) => store.get(key),
        set: (key, value) => life.on && store.set(key, value),
        delete: (key) => life.on && store.delete(key),
      },
      blocks: {
        size: blocks.size,
        sectorSize: blocks.sectorSize,
        read: (at, into) => life.on && blocks.read(at, into),
        write: (at, bytes) => life.on && blocks.write(at, bytes),
        erase: (at) => life.on && blocks.erase(at),
      },
    };
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

  /** As by a power loss: nothing that this run does has an effect any more. */
  gone(): void {
    this.#life.on = false;
    for (const peer of this.net.peers) if (!peer.closed) peer.reset();
    void this.agent.stop();
  }

  /** The next start, with a platform: how many points neither arrived nor were counted. */
  async lost(): Promise<number> {
    this.up = true;
    this.start();
    await this.clock.advance(10 * 60_000);
    const counted = Object.values(this.dropped).reduce((sum, points) => sum + points, 0);
    return this.recorded - this.arrived.size - counted;
  }
}
