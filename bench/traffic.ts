// What a battery and a data plan pay for one piece of work, counted on sockets of memory: the same
// on every run and machine. A packet is what one side handed to its socket at once, or one of the
// seven that open and end a connection. Acknowledgements on their own are left out.
import { Agent, type AgentOptions } from "../src/index.js";
import { FakeFlash } from "../test/fakes/flash.js";
import { FakeStore, fakeHost } from "../test/fakes/host.js";
import { BASE_URL, Counted, TOKEN } from "./counted.js";

const LATENCY_MS = 20;
const HOUR_MS = 3_600_000;
const SETTLED_MS = 6 * HOUR_MS + 302_000;
const MINUTE_MS = 60_000;
const PIECES = 5;
/** SYN, SYN-ACK, ACK; FIN and ACK of each side. */
const HANDSHAKE_PACKETS = 7;
/** Heads of IP and TCP without options. */
const PACKET_HEAD = 40;
/** The cut of a server that allows polls of 5 min; by default it is 30 s. */
const LONG_POLL_MS = 600_000;

export const STEADY_WAKE = "a wake with an upload, attributes and a look for RPCs";
const FIRST_WAKE = "the first wake of a new device";

export interface Spent {
  readonly packets: number;
  /** With the heads of IP and TCP. */
  readonly bytes: number;
  readonly requests: number;
}

class Station {
  readonly counted: Counted;
  readonly agent: Agent;

  constructor(asyncCapMs?: number, options: Partial<AgentOptions> = {}) {
    this.counted = new Counted(LATENCY_MS, asyncCapMs);
    const { clock, net } = this.counted;
    this.agent = new Agent(fakeHost({ clock, network: net }), {
      baseUrl: BASE_URL,
      token: TOKEN,
      firmware: { title: "station", version: "1.0.0" },
      ...options,
    });
  }

  /** Online for `ms`. After six hours polls have their full length, and none is due for 50 s. */
  async start(ms = SETTLED_MS): Promise<void> {
    this.agent.attributes.subscribe("interval", () => {});
    this.agent.rpc.handle("echo", (params) => params);
    this.agent.start();
    await this.counted.clock.advance(ms);
  }

  look(): Spent {
    return spentBy(this.counted);
  }

  /** Spent by each of some pieces of work, between two polls. */
  async each(work: () => Promise<void>): Promise<Spent> {
    await work();
    const before = this.look();
    for (let i = 0; i < PIECES; i++) await work();
    const { packets, bytes, requests } = minus(this.look(), before);
    return { packets: packets / PIECES, bytes: bytes / PIECES, requests: requests / PIECES };
  }
}

const spentBy = ({ bytes, requests, writes, handshakes }: Counted): Spent => {
  const packets = writes + HANDSHAKE_PACKETS * handshakes;
  return { packets, bytes: bytes + PACKET_HEAD * packets, requests };
};

const minus = (one: Spent, other: Spent): Spent => ({
  packets: one.packets - other.packets,
  bytes: one.bytes - other.bytes,
  requests: one.requests - other.requests,
});

async function idleHour(): Promise<Spent> {
  const station = new Station();
  await station.start();
  const before = station.look();
  await station.counted.clock.advance(HOUR_MS);
  return minus(station.look(), before);
}

async function fiftyPoints(): Promise<Spent> {
  const station = new Station(LONG_POLL_MS, {
    telemetry: { durable: false, batchPoints: 50, batchAgeMs: 6000 },
  });
  await station.start();
  const { clock } = station.counted;
  return station.each(async () => {
    for (let n = 0; n < 50; n++) {
      station.agent.telemetry.record({ temperature: 20 + (n % 10) / 10, humidity: 40 + (n % 7) });
      await clock.advance(100);
    }
    await clock.advance(2000);
  });
}

/** A wake of a device that slept: a point, attributes, a look for RPCs. `first`: after power-on. */
async function wakes(): Promise<{ first: Spent; steady: Spent }> {
  const counted = new Counted(LATENCY_MS);
  const { clock, net } = counted;
  const [store, blocks] = [new FakeStore(), new FakeFlash(16 * 4096, 4096)];
  let kept: string | undefined;
  let n = 0;
  const wake = async (): Promise<Spent> => {
    const before = spentBy(counted);
    const host = fakeHost({ clock, network: net, store, blocks, seed: ++n });
    const agent = new Agent(host, {
      baseUrl: BASE_URL,
      token: TOKEN,
      firmware: { title: "station", version: "1.0.0" },
      cycle: { everyMs: MINUTE_MS, connectEvery: 1 },
    });
    agent.attributes.subscribe("interval", () => {});
    agent.rpc.handle("echo", (params) => params);
    const sample = () => ({ values: { temperature: 20.5, humidity: 40 + n } });
    const ended = await clock.untilSettled(agent.runOnce({ sample, connect: true, kept }));
    kept = ended.kept;
    await clock.advance(ended.sleepMs);
    return minus(spentBy(counted), before);
  };
  const first = await wake();
  for (let i = 0; i < 5; i++) await wake();
  return { first, steady: await wake() };
}

export async function measureTraffic(): Promise<Record<string, Spent>> {
  const { first, steady } = await wakes();
  return {
    [STEADY_WAKE]: steady,
    [FIRST_WAKE]: first,
    "50 points": await fiftyPoints(),
    "an idle hour, polls cut at 30 s": await idleHour(),
  };
}
