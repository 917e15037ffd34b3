// Days of a device's life on XS: every loop at work, and again and again something that goes wrong for a while.

import type { AgentOptions } from "../../src/index.js";
import { RpcActor } from "../../tools/platform/core/rpc/rpc.js";
import type { Fault } from "../fakes/platform.js";
import type { SeenRequest } from "../fakes/server.js";
import { type Still, standStill, type Teardown } from "./engine/still.js";

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];
/** Calm at the end of a day, in which everything comes to rest that the day left behind. */
const CALM = 20 * MINUTE;

/** Points of the last minute, which may wait or be on their way: with one connection for a poll too. */
const LATE = 12;
/** Each day's end is looked at so often, from poll to poll: a request that happens to be under way is not what the device keeps. */
const RESTS = 4;

/** The application: a point each 10 s, an RPC that echoes, a shared attribute that is followed. */
const APPLICATION = `
  globalThis.recorded = 0;
  const record = () => {
    agent.telemetry.record({ n: recorded++, temperature: 20 + (recorded % 100) / 10 });
    host.clock.timer(${10 * SECOND}, record);
  };
  record();
  globalThis.seen = undefined;
  agent.attributes.subscribe("interval", (value) => { seen = value; });
  agent.rpc.handle("echo", (params) => params);
`;

/** What may happen to every request for as long as an episode lasts. */
const TROUBLES: readonly (readonly [
  name: string,
  every: number,
  lasts: number,
  fault: (request: SeenRequest) => Fault,
])[] = [
  ["the network is gone", 5 * HOUR, 10 * MINUTE, () => "drop"],
  ["nobody answers", 8 * HOUR, 6 * MINUTE, () => "hang"],
  ["the platform is busy", 7 * HOUR, 3 * MINUTE, () => ({ status: 503 })],
  [
    "the bucket is empty",
    6 * HOUR,
    2 * MINUTE,
    ({ method }) => (method === "POST" ? { status: 500 } : undefined),
  ],
  ["answers get lost", 9 * HOUR, 3 * MINUTE, ({ method }) => (method === "POST" ? "lose-answer" : undefined)],
];
const RPC_EVERY = 7 * MINUTE;
const CHANGE_EVERY = 11 * MINUTE;
const RESTART_EVERY = 13 * HOUR;

interface LongRun {
  /** Slots in use at the end of each day. */
  readonly slots: number[];
  readonly points: number;
  readonly missing: number;
  /** RPCs sent, and of them those answered with what was sent. */
  readonly rpcs: number;
  readonly answered: number;
  /** Whether the device and the platform ended with the same shared attribute. */
  readonly converged: boolean;
}

/** Runs through `days`; calls `report` at the end of each. */
export async function longRun(
  t: Teardown,
  connections: 1 | 2 | 3,
  days: number,
  report: (line: string) => void = () => {},
): Promise<LongRun> {
  const options: Partial<AgentOptions> = { connections, telemetry: { batchAgeMs: MINUTE } };
  const still = await standStill(t, options, APPLICATION);
  const life = new Life(still);
  const slots: number[] = [];
  for (let day = 1; day <= days; day++) {
    await life.day();
    const found: number[] = [];
    for (let rest = 0; rest < RESTS; rest++) found.push(await still.slots());
    slots.push(Math.min(...found));
    report(`day ${day}: ${slots.at(-1)} slots, ${life.rpcs} RPCs, ${life.points} points on the platform`);
  }
  const recorded = Number(await still.bridge.run("recorded"));
  const missing = Math.max(0, recorded - LATE - life.points);
  const converged = (await still.bridge.run("seen")) === life.changes;
  return { slots, points: life.points, missing, rpcs: life.rpcs, answered: life.answered, converged };
}

class Life {
  rpcs = 0;
  answered = 0;
  changes = 0;
  readonly #still: Still;
  readonly #numbers = new Set<number>();
  #fault: ((request: SeenRequest) => Fault) | undefined;

  constructor(still: Still) {
    this.#still = still;
    const { platform } = still;
    // Noted as they arrive: of a key the local platform keeps no more than the last 100,000.
    platform.noteValues((key, value) => key === "n" && this.#numbers.add(value));
    const counted = platform.fault;
    platform.fault = (request) => {
      counted?.(request);
      return this.#fault?.(request);
    };
  }

  /** Points that arrived, each counted once however often it came. */
  get points(): number {
    return this.#numbers.size;
  }

  async day(): Promise<void> {
    const { clock, platform, device } = this.#still;
    const end = clock.now() + DAY;
    this.#every(RPC_EVERY, end, () => void this.#rpc());
    this.#every(CHANGE_EVERY, end, () => platform.setShared(device, { interval: ++this.changes }));
    this.#every(RESTART_EVERY, end, () => this.#restartPlatform());
    for (const [, every, lasts, fault] of TROUBLES) {
      this.#every(every, end - lasts, () => {
        this.#fault = fault;
        this.#break();
        clock.timer(lasts, () => {
          this.#fault = undefined;
        });
      });
    }
    await clock.advance(DAY);
    await clock.advance(CALM);
  }

  #every(ms: number, end: number, happens: () => void): void {
    const { clock } = this.#still;
    for (let at = clock.now() + ms; at < end; at += ms) clock.timer(at - clock.now(), happens);
  }

  #rpc(): void {
    const { platform, device } = this.#still;
    const n = this.rpcs++;
    const results = platform.rpc(device, "echo", { n }, { timeoutMs: 60_000 });
    this.#still.clock.timer(61_000, () => {
      const [result] = results;
      if (result?.kind === "answer" && result.text === JSON.stringify({ n })) this.answered++;
    });
  }

  #break(): void {
    for (const peer of this.#still.host.net.peers) if (!peer.closed) peer.reset();
  }

  #restartPlatform(): void {
    const { platform, device } = this.#still;
    this.#break();
    device.rpc.close();
    Object.assign(device, { rpc: new RpcActor(platform.core.clock) });
    device.notifications.forgetSubscribers();
  }
}
