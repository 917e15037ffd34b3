// The loop that brings points from the outbox to the platform (POST /api/v1/{token}/telemetry), and the application's way in.
//
// What the platform answers decides: `done` forgets, `busy` and `lost` keep and try again smaller or later. A refusal drops a point only if
// the platform, asked for attributes with the same token, answers 200: else not the content is wrong but the address, the
// token or a proxy, and all is kept.
import type { Outcome } from "../net/outcome.js";
import { TELEMETRY_PATH } from "../wire/paths.js";
import { checkTs, PointEncoder } from "../wire/telemetry.js";
import { type Batch, HEAD_ROOM } from "./batch.js";
import { BatchSource } from "./batch-source.js";
import { checkDeadline, EXCHANGE_MS } from "./deadline.js";
import { DropReporter } from "./drop-reporter.js";
import { type Drops, DropTeller } from "./drop-teller.js";
import type { Events } from "./events.js";
import { FlushQueue } from "./flush-queue.js";
import { Lane } from "./lane.js";
import type { DeviceRequest, Link } from "./link.js";
import type { Job, Loop, Wait } from "./loop.js";
import type { Outbox } from "./outbox.js";
import { CONTENT, PROBE, post } from "./requests.js";
import { type TelemetryOptions, telemetrySettings } from "./telemetry-options.js";
import type { Time } from "./time.js";

/** The host does not say when it learns the time. */
const TIME_LOOK_MS = 1000;
/** A way that works now and then is told so often at most. */
const QUIET_MS = 3_600_000;
const TOO_LARGE = 413;
/** Statuses of an empty bucket: a smaller batch may pass at once. */
const BUCKET = [429, 500];

/**
 * - `wait`: until a batch is full or old enough, or somebody wants it all delivered.
 * - `send`: a batch goes out.
 * - `probe`: the batch was refused; is it for its content?
 * - `report`: the platform is told of drops.
 */
const STEPS = { wait: "wait", send: "send", probe: "probe", report: "report" } as const;
type Step = keyof typeof STEPS;

/** Telemetry: `record` at any time, also before `start()` and while offline. */
export class Telemetry implements Job {
  readonly #link: Link;
  readonly #lane: Lane;
  readonly #events: Events;
  readonly #loop: Loop;
  readonly #outbox: Outbox;
  readonly #points = new PointEncoder();
  readonly #source: BatchSource;
  readonly #reporter: DropReporter;
  readonly #flushes: FlushQueue;
  #step: Step = "wait";
  #batch: Batch | undefined;
  #refusedWith = 0;
  #sentAt = 0;
  #toldAddress = false;
  #quietUntil = 0;
  #toldTime = false;
  /** Points wait, and the time stamp of the first is not known. */
  #stuck = false;

  constructor(link: Link, events: Events, time: Time, outbox: Outbox, options: TelemetryOptions) {
    this.#link = link;
    this.#lane = new Lane(link, "uplink");
    this.#events = events;
    this.#loop = link.loop("telemetry", this);
    this.#outbox = outbox;
    const settings = telemetrySettings(options);
    this.#source = new BatchSource(link.host, time, outbox, settings);
    this.#reporter = new DropReporter(link.host, time, outbox, settings.timestamps);
    this.#flushes = new FlushQueue(link.host.clock, outbox);
    const teller = new DropTeller(link.host, events);
    outbox.watch((points, reason) => teller.add(points, reason));
  }

  /**
   * Takes a point: values by key (string, boolean, finite number, BigInt of 64 bits, JSON of 32 levels). It reaches the platform at
   * least once and in order, or the event `drop` counts it. False if it was dropped at once: no room, with `drop: "newest"`.
   * `ts`: milliseconds since 1970, 13 digits; default: now, each point its own.
   * Throws `BAD_VALUE` for what JSON or the platform can't hold, `TOO_LARGE` for more than fits in one request; nothing is kept then.
   */
  record(values: Record<string, unknown>, options?: { readonly ts?: number | undefined }): boolean {
    const ts = options?.ts;
    const flaw = ts === undefined ? undefined : checkTs(ts);
    if (flaw !== undefined) throw this.#link.counters.error("BAD_VALUE", flaw);
    const text = this.check(values);
    if (!this.#outbox.append(text, ts)) return false;
    if (this.#source.added(text.length)) this.#loop.notify();
    return true;
  }

  /** Throws as `record` would, and records nothing. Returns the JSON text of the values as UTF-8. */
  check(values: Record<string, unknown>): Uint8Array {
    const { counters, host } = this.#link;
    const most = this.#outbox.maxText;
    const encoded = this.#points.encode(values, most);
    if (!encoded.ok) throw counters.error(encoded.tooLarge ? "TOO_LARGE" : "BAD_VALUE", encoded.reason);
    const text = host.encode(encoded.text);
    if (text.length > most) throw counters.error("TOO_LARGE", `the point is longer than ${most} bytes`);
    return text;
  }
  /** Points that wait to be delivered. */
  get waiting(): number {
    return this.#outbox.waiting;
  }
  /** Points dropped, by reason, since the durable queue began or, without one, since the agent was made. */
  get dropped(): Readonly<Drops> {
    return this.#outbox.dropped;
  }

  /**
   * Sends what waits now, without waiting for full batches. True once nothing of it waits any more, false after `deadlineMs`, at `stop()`,
   * and at once if the agent is stopped and points wait. Rejects with `BAD_VALUE` for what is no deadline.
   */
  async flush(deadlineMs: number): Promise<boolean> {
    checkDeadline(deadlineMs);
    const flushed = this.#flushes.add(deadlineMs, this.#link.running);
    this.#loop.notify();
    return flushed;
  }

  /** For the agent alone: nothing waits, and there are no drops to tell of. */
  get settled(): boolean {
    return this.#outbox.waiting === 0 && !this.#reporter.due;
  }

  /** For the agent alone, as the two that follow. */
  begin(): void {
    this.#step = "wait";
  }

  turn(): Wait | Promise<Wait> {
    if (this.#step === "wait") {
      const wait = this.#untilDue();
      if (wait !== 0) return wait;
      this.#step = this.#outbox.waiting > 0 ? "send" : "report";
    }
    return this.#talk(this.#step);
  }

  end(): void {
    this.#outbox.sync();
    this.#flushes.end();
  }

  async #talk(step: Step): Promise<Wait> {
    await this.#lane.ready();
    const request = this.#link.running ? this.#request(step) : undefined;
    this.#step = request ? this.#judge(step, await this.#lane.send(request)) : "wait";
    return 0;
  }

  /** ms until a batch or, if nothing waits, a report is to be sent, undefined for "when woken". */
  #untilDue(): number | undefined {
    this.#flushes.check();
    if (this.#outbox.waiting === 0) return this.#reporter.untilDue;
    if (this.#stuck) {
      this.#stuck = false;
      return TIME_LOOK_MS;
    }
    return this.#source.full || this.#flushes.waiting ? 0 : this.#source.untilDue;
  }

  #request(step: Step): DeviceRequest | undefined {
    if (step === "probe") return PROBE;
    const body = step === "report" ? this.#reporter.body() : this.#nextBatch()?.body;
    this.#sentAt = this.#link.host.clock.now();
    if (!body) return undefined;
    return { ...post(TELEMETRY_PATH, body), ...(step === "send" && { headRoom: HEAD_ROOM }) };
  }

  #nextBatch(): Batch | undefined {
    this.#batch = this.#source.next();
    this.#stuck = !this.#batch && this.#outbox.waiting > 0;
    if (this.#stuck && !this.#toldTime) {
      this.#toldTime = true;
      this.#link.host.log("warn", "the time is not known yet: telemetry waits for it");
    }
    return this.#batch;
  }

  #judge(step: Step, outcome: Outcome): Step {
    if (step === "report") return this.#reported(outcome);
    const batch = this.#batch;
    if (!batch) return "wait";
    if (step === "probe") return this.#probed(batch, outcome);
    if (outcome.kind === "done") return this.#delivered(batch);
    if (outcome.kind === "refused") return this.#refused(outcome.status);
    if (outcome.kind === "busy") return this.#busy(batch, outcome.status, outcome.retryAfterMs);
    // A batch that is too much for the platform may also hang.
    if (this.#link.host.clock.now() - this.#sentAt >= EXCHANGE_MS) this.#source.limit.busy(batch);
    return "send";
  }

  #delivered(batch: Batch): Step {
    this.#lane.clear();
    this.#toldAddress = false;
    if (!this.#source.done(batch)) return "send";
    this.#reporter.guessed(batch.guessed);
    this.#outbox.confirm(batch.number + batch.points);
    this.#events.emit("delivered", { points: batch.points });
    return this.#reporter.due ? "report" : "wait";
  }

  #busy(batch: Batch, status: number, retryAfterMs: number | undefined): Step {
    const smaller = this.#source.limit.busy(batch);
    if (!smaller || retryAfterMs !== undefined || !BUCKET.includes(status)) this.#lane.hold(retryAfterMs);
    return "send";
  }

  #refused(status: number): Step {
    this.#refusedWith = status;
    if (CONTENT.includes(status)) return "probe";
    // 401 is the link's: it waits for a token that is known.
    if (status !== 401) this.#holdAddress(status);
    return "send";
  }

  #probed(batch: Batch, outcome: Outcome): Step {
    if (outcome.kind === "lost") return "send";
    if (outcome.kind === "busy") this.#lane.hold(outcome.retryAfterMs);
    else if (outcome.kind === "refused") {
      if (outcome.status !== 401) this.#holdAddress(this.#refusedWith);
    } else if (!this.#source.limit.refused(batch, this.#refusedWith !== TOO_LARGE)) {
      this.#source.gone(batch);
      this.#outbox.refuse(batch.number + 1);
      return this.#reporter.due ? "report" : "wait";
    }
    return "send";
  }

  #holdAddress(status: number): void {
    this.#lane.hold();
    const now = this.#link.host.clock.now();
    if (this.#toldAddress || now < this.#quietUntil) return;
    this.#toldAddress = true;
    this.#quietUntil = now + QUIET_MS;
    this.#link.host.log(
      "error",
      `telemetry is refused with ${status}: is the base URL right? Points are kept`,
    );
  }

  #reported(outcome: Outcome): Step {
    if (outcome.kind === "done") this.#reporter.done();
    else if (outcome.kind === "busy") this.#lane.hold(outcome.retryAfterMs);
    else if (outcome.kind === "refused") this.#lane.hold();
    return "wait";
  }
}
