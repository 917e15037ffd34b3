// Telemetry on a fake host, against a platform that the test scripts.

import type { TelemetryOptions } from "../../../../src/agent/queue/options.js";
import { Outbox } from "../../../../src/agent/queue/outbox.js";
import { Telemetry } from "../../../../src/agent/telemetry/telemetry.js";
import { Time } from "../../../../src/agent/time/time.js";
import { Events } from "../../../../src/events.js";
import { parseTarget } from "../../../../src/http/target.js";
import { PlatformSession, type SessionWatcher } from "../../../../src/platform/session.js";
import { type FakeHost, type FakeHostOptions, fakeHost } from "../../../fakes/host.js";
import { tokenFor } from "../../../fakes/secret.js";
import { type SeenRequest, serve } from "../../../fakes/server.js";

export interface Element {
  readonly ts?: number;
  readonly values: Record<string, unknown>;
}

export interface Answer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Record<string, string>;
  /** ms from the request to the answer. */
  readonly lateMs?: number;
}

export class TelemetryRig {
  readonly host: FakeHost;
  readonly session: PlatformSession;
  readonly time: Time;
  readonly outbox: Outbox;
  readonly telemetry: Telemetry;
  /** What the platform took, in order. */
  readonly taken: Element[] = [];
  /** Bodies of telemetry, in order. */
  readonly bodies: string[] = [];
  /** `POST elements -> status` of each. */
  readonly log: string[] = [];
  readonly delivered: number[] = [];
  readonly drops: { points: number; reason: string }[] = [];
  readonly pace: { behind: boolean; points: number }[] = [];
  /** What the platform answers to a POST of these elements; undefined: nothing, ever. */
  answer: (elements: Element[]) => Answer | undefined = () => ({ status: 200 });

  constructor(options: TelemetryOptions = {}, hostOptions: FakeHostOptions = {}) {
    this.host = fakeHost(hostOptions);
    const target = parseTarget("https://platform.example.com");
    if (!target.ok) throw new Error(target.reason);
    const events = new Events(this.host);
    events.on("delivered", ({ points }) => this.delivered.push(points));
    events.on("drop", (detail) => this.drops.push(detail));
    events.on("delivery", (detail) => this.pace.push(detail));

    this.time = new Time(this.host);
    const nothing = () => {};
    const watcher: SessionWatcher = {
      ...{ callNeedsSession: nothing, tokenProven: nothing, writeProven: nothing },
      dated: (ms) => this.time.learn(ms),
      // The token is good again after a while.
      unauthorized: () => void this.host.clock.timer(1000, () => this.#authorize()),
    };
    this.session = new PlatformSession(this.host, target.target, 3, events, watcher);
    this.outbox = new Outbox(this.host, this.time, options);
    this.telemetry = new Telemetry(this.session, events, this.time, this.outbox);
    serve(this.host.net, (request) => this.#serve(request));
  }

  start(): this {
    this.session.start();
    this.#authorize();
    for (const loop of this.session.loops) loop.start();
    return this;
  }

  #authorize(): void {
    this.session.authorize(tokenFor(this.session, "TOKEN"));
  }

  /** Resolves when nothing of it goes on. */
  async ended(): Promise<void> {
    for (const loop of this.session.loops) await loop.ended();
  }

  /** Records points `{ n }` from `from` to below `to`. */
  record(from: number, to: number): this {
    for (let n = from; n < to; n++) this.telemetry.record({ n });
    return this;
  }

  /** The numbers of the points that the platform took, in order, as often as they came. */
  get numbers(): unknown[] {
    return this.taken.map((element) => element.values.n).filter((n) => n !== undefined);
  }

  async empty(withinMs?: number): Promise<void> {
    await this.host.clock.runUntil(() => this.outbox.waiting === 0, withinMs);
  }

  #serve(request: SeenRequest): void {
    if (request.method === "GET") {
      request.reply(200, "{}");
      return;
    }
    const elements = elementsOf(request.body);
    this.bodies.push(request.body);
    const answer = this.answer(elements);
    this.log.push(`POST ${elements.length} -> ${answer?.status}`);
    if (answer?.status === 200) this.taken.push(...elements);
    if (!answer) return;
    const reply = () => request.reply(answer.status, answer.body ?? "", answer.headers);
    if (answer.lateMs) this.host.clock.timer(answer.lateMs, reply);
    else reply();
  }
}

/**
 * The elements of a body as the platform reads it: without both `ts` and `values`, an object is all
 * values.
 */
function elementsOf(body: string): Element[] {
  const parsed = JSON.parse(body);
  const elements: Record<string, unknown>[] = Array.isArray(parsed) ? parsed : [parsed];
  return elements.map(
    (one) => ("ts" in one && "values" in one ? one : { values: one }) as unknown as Element,
  );
}

/** 0, 1, ... below `count`. */
export function upTo(count: number, from = 0): number[] {
  return Array.from({ length: count - from }, (_, i) => from + i);
}
