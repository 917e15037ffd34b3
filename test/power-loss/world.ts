// A whole agent and a platform around the power: the world of the cases that talk.

import { Agent, type AgentOptions } from "../../src/index.js";
import type { Device } from "../../tools/platform/core/devices.js";
import { FakePlatform, KEY, SECRET } from "../fakes/platform.js";
import type { Power } from "../fakes/power.js";
import { PoweredDevice, type PoweredHost } from "../fakes/powered-device.js";
import type { SeenRequest } from "../fakes/server.js";
import { storedJson } from "../fakes/stored.js";

export const NAME = "greenhouse-7";
const TOKEN = /^\/api\/v1\/([^/]+)\/(\w+)/;

/**
 * What goes wrong on the way: nothing; the first request of its path is taken, and its answer lost;
 * or the first three don't arrive.
 */
export const WAYS = ["clear", "answer-lost", "dropped"] as const;
export type Way = (typeof WAYS)[number];
const OFTEN = { clear: 0, "answer-lost": 1, dropped: 3 };

export class World {
  readonly body = new PoweredDevice();
  readonly platform: FakePlatform;
  /** What is wrong that a callback can't say. */
  readonly problems: string[] = [];
  /** A token that the device forgot for good: what it sent with it may still be under way. */
  oldToken = "";
  /** Bodies of requests that the platform took and whose answers were lost. */
  readonly unheard: string[] = [];
  /** Events `refused` of all starts. */
  refused = 0;

  /** `spoils`: the first request for which it is true, by its path, is spoilt in the given way. */
  constructor(way: Way = "clear", spoils: (request: SeenRequest) => boolean = () => false) {
    const spoilt = new Map<string, number>();
    this.platform = new FakePlatform(this.body.clock, this.body.net);
    this.platform.fault = (request) => {
      this.#checkToken(request);
      const often = spoilt.get(request.path) ?? 0;
      if (way === "clear" || !spoils(request) || often >= OFTEN[way]) return undefined;
      spoilt.set(request.path, often + 1);
      if (way === "dropped") return "drop";
      this.unheard.push(request.body);
      return "lose-answer";
    };
  }

  get device(): Device {
    return this.platform.device(NAME);
  }

  /** The agent of the next start, not started. */
  boot(power: Power, options: Partial<AgentOptions> = {}): { agent: Agent; host: PoweredHost } {
    const host = this.body.start(power);
    const agent = new Agent(host, {
      baseUrl: "http://platform.test",
      provisioning: { key: KEY, secret: SECRET, deviceName: NAME },
      ...options,
    });
    agent.on("refused", () => {
      if (power.on) this.refused++;
    });
    return { agent, host };
  }

  /**
   * Lets time pass until `done()`, or the power goes. Throws after `ms`, and what callbacks found
   * wrong.
   */
  async until(power: Power, what: string, done: () => boolean, ms = 60_000): Promise<void> {
    await this.body.clock
      .runUntil(() => !power.on || this.problems.length > 0 || done(), ms)
      .catch(({ message }) => this.problems.push(`${what} is ${message}`));
    if (this.problems.length > 0) throw new Error(this.problems.join("; "));
    power.check();
  }

  /** A stored JSON value, or undefined. */
  stored(key: string): { [name: string]: unknown } | undefined {
    const bytes = this.body.store.values.get(key);
    return bytes && storedJson(bytes);
  }

  /** A token is in use only if it is in the store: else a power loss would lose the device. */
  #checkToken({ path, method }: SeenRequest): void {
    const [, token, what] = TOKEN.exec(path) ?? [];
    if (token === undefined || token === this.oldToken || (method === "GET" && what === "attributes")) return;
    if (this.stored("token")?.token !== token)
      this.problems.push(`${method} ${what} with a token that is not stored`);
  }
}

/** Points as they arrived, in order, with the platform's time stamp. */
export type Arrived = readonly { readonly n: number; readonly ts: number }[];

export function noteArrivals({ platform }: World): Arrived {
  const arrived: { n: number; ts: number }[] = [];
  platform.noteValues((key, n, ts) => key === "n" && arrived.push({ n, ts }));
  return arrived;
}

/**
 * Points come in order, each with a time stamp of its own that grows, by `slackMs` less if need be.
 * `mayChange`: a point that comes again may have another.
 */
export function checkStamps(arrived: Arrived, { mayChange = false, slackMs = 0 }): void {
  const first = new Map<number, number>();
  let last = { n: -1, ts: -1 };
  for (const { n, ts } of arrived) {
    const before = first.get(n) ?? ts;
    if (before !== ts && !mayChange) throw new Error(`point ${n} has two time stamps, ${before} and ${ts}`);
    if (first.has(n)) continue;
    if (n < last.n) throw new Error(`point ${n} came after ${last.n}`);
    if (ts <= last.ts - slackMs)
      throw new Error(`points ${last.n} and ${n} have the time stamps ${last.ts} and ${ts}`);
    first.set(n, ts);
    last = { n, ts };
  }
}

/** Points below `safe` that did not arrive and that no power loss excuses. */
export function missing(of: { arrived: Arrived; safe: number; unsure: ReadonlySet<number> }): number[] {
  const there = new Set(of.arrived.map(({ n }) => n));
  return Array.from({ length: of.safe }, (_, n) => n).filter((n) => !there.has(n) && !of.unsure.has(n));
}

/** The requests to a path. */
export const requestsTo = ({ platform }: World, path: RegExp) =>
  platform.seen.filter((request) => path.test(request.path));
