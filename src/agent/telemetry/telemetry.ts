// The loop that brings points from the outbox to the platform (POST /api/v1/{token}/telemetry), and the application's way in.
//
// What the platform answers decides: `done` forgets, `busy` and `lost` keep and try again smaller or later. A point that is refused alone is dropped only if
// the platform takes a probe right after it, a small point of the agent's own: else not the content is wrong but the address, the
// token, a proxy or the platform, and all is kept (refusal-policy.ts).

import type { Events } from "../../events.js";
import type { Outcome } from "../../http/outcome.js";
import type { DeviceRequest, Job, Loop, PlatformSession, Wait } from "../../platform/index.js";
import { CONTENT, HEAD_ROOM, post, RequestChannel } from "../../platform/index.js";
import { type AbortSignalLike, EXCHANGE_MS } from "../../platform/wait.js";
import { TELEMETRY_PATH } from "../../wire/paths.js";
import { PointEncoder } from "../../wire/telemetry.js";
import { applicationTimestamp } from "../../wire/timestamp.js";
import type { Drops, Outbox } from "../queue/index.js";
import type { Time } from "../time/time.js";
import type { Batch } from "./batch.js";
import { BatchSource } from "./batch-source.js";
import { DeliveryReport } from "./delivery-report.js";
import { FlushQueue } from "./flush-queue.js";
import { RefusalPolicy } from "./refusal-policy.js";

export type { RefusalMemory } from "./refusal-policy.js";

/** The host does not say when it learns the time. */
const TIME_LOOK_MS = 1000;
const TOO_LARGE = 413;
/** Statuses of an empty bucket: a smaller batch may pass at once. */
const BUCKET = [429, 500];

/**
 * Where the loop is.
 * - `wait`: until a batch is full or old enough, or somebody wants it all delivered.
 * - `send`: a batch goes out.
 * - `probe`: a point was refused alone; is it for its content?
 * - `report`: drops are reported to the platform.
 */
type Step = "wait" | "send" | "probe" | "report";

export class Telemetry implements Job {
  readonly refusals: RefusalPolicy;
  private readonly _session: PlatformSession;
  private readonly _channel: RequestChannel;
  private readonly _events: Events;
  private readonly _loop: Loop;
  private readonly _outbox: Outbox;
  private readonly _points: PointEncoder;
  private readonly _source: BatchSource;
  private readonly _report: DeliveryReport;
  private readonly _flushes: FlushQueue;
  private _step: Step = "wait";
  private _batch: Batch | undefined;
  private _sentAt = 0;
  /** Points wait, and the time stamp of the first is not known. */
  private _stuck = false;

  constructor(session: PlatformSession, events: Events, time: Time, outbox: Outbox) {
    this._session = session;
    this._points = new PointEncoder(session.redactor);
    this._channel = new RequestChannel(session, "telemetry");
    this._events = events;
    this._loop = session.loop("telemetry", this);
    this._outbox = outbox;
    this._source = new BatchSource(session.host, time, outbox);
    this._report = new DeliveryReport(session, events, time, outbox);
    this._flushes = new FlushQueue(session.host.clock, outbox);
    this.refusals = new RefusalPolicy(session.host, this._source.limit);
  }

  /** See `TelemetryApi`, like the members that follow. */
  record(values: Record<string, unknown>, options?: { readonly ts?: number | undefined }): boolean {
    const given = options?.ts;
    const ts = given === undefined ? undefined : applicationTimestamp(given);
    if (typeof ts === "string") throw this._session.counters.error("BAD_VALUE", ts);
    const text = this.check(values);
    if (!this._outbox.append(text, ts)) return false;
    if (this._source.added(text.length)) this._loop.notify();
    return true;
  }

  check(values: Record<string, unknown>): Uint8Array {
    const { counters, host } = this._session;
    const most = this._outbox.maxText;
    const encoded = this._points.encode(values, most);
    if (!encoded.ok) throw counters.error(encoded.tooLarge ? "TOO_LARGE" : "BAD_VALUE", encoded.reason);
    const text = host.encode(encoded.text);
    if (text.length > most) throw counters.error("TOO_LARGE", `the point is longer than ${most} bytes`);
    return text;
  }
  get waiting(): number {
    return this._outbox.waiting;
  }
  get dropped(): Readonly<Drops> {
    const { full, refused, unreadable } = this._outbox.dropped;
    return { full, refused, unreadable };
  }

  flush(timeoutMs: number, signal?: AbortSignalLike): Promise<boolean> {
    const flushed = this._flushes.add(timeoutMs, this._session.running, signal);
    this._loop.notify();
    return flushed;
  }

  /** No points wait and no drops are to be reported, or the platform accepts none now. */
  get idle(): boolean {
    return this.refusals.outage || (this._outbox.waiting === 0 && !this._report.isDue);
  }

  begin(): void {
    this._step = "wait";
  }

  turn(): Wait | Promise<Wait> {
    if (this._step === "wait") {
      const wait = this._untilDue();
      if (wait !== 0) return wait;
      this._step = this._outbox.waiting > 0 ? "send" : "report";
    }
    return this._talk(this._step);
  }

  end(): void {
    this._outbox.sync();
    this._flushes.end();
    this._report.end();
  }

  private async _talk(step: Step): Promise<Wait> {
    await this._channel.ready();
    const request = this._session.running ? this._request(step) : undefined;
    this._step = request ? this._judge(step, await this._channel.send(request)) : "wait";
    return 0;
  }

  /** ms until a batch or, if nothing waits, a report is to be sent, undefined for "when woken". */
  private _untilDue(): number | undefined {
    this._flushes.check();
    if (this._outbox.waiting === 0) return this._report.untilDue;
    if (this._stuck) {
      this._stuck = false;
      return TIME_LOOK_MS;
    }
    return this._source.full || this._flushes.waiting ? 0 : this._source.untilDue;
  }

  private _request(step: Step): DeviceRequest | undefined {
    const body =
      step === "send" ? this._nextBatch()?.body : this._report[step === "probe" ? "probe" : "body"]();
    this._sentAt = this._session.host.clock.now();
    return body && { ...post(TELEMETRY_PATH, body), ...(step === "send" && { headRoom: HEAD_ROOM }) };
  }

  private _nextBatch(): Batch | undefined {
    this._batch = this._source.next();
    this._stuck = !this._batch && this._outbox.waiting > 0;
    return this._batch;
  }

  private _judge(step: Step, outcome: Outcome): Step {
    if (step === "report") return this._reported(outcome);
    const batch = this._batch;
    if (!batch) return "wait";
    if (step === "probe") return this._probed(batch, outcome);
    if (outcome.kind === "done") return this._delivered(batch);
    if (outcome.kind === "refused") return this._refused(batch, outcome.status);
    if (outcome.kind === "busy") return this._busy(batch, outcome.status, outcome.retryAfterMs);
    // A batch that is too much for the platform may also hang.
    if (this._session.host.clock.now() - this._sentAt >= EXCHANGE_MS) this._source.limit.busy(batch);
    return "send";
  }

  private _delivered(batch: Batch): Step {
    this._channel.clear();
    this.refusals.passed();
    const whole = this._source.done(batch);
    if (whole === "part") return "send";
    if (whole === "key dropped") return this._dropRejectedPoint(batch);
    this._outbox.confirm(batch.number + batch.points);
    this._report.delivered(batch.guessed);
    this._events.emit("delivered", { points: batch.points });
    return this._report.isDue ? "report" : "wait";
  }

  private _dropRejectedPoint(batch: Batch): Step {
    this._source.gone(batch);
    this._outbox.refuse(batch.number + 1);
    return this._report.isDue ? "report" : "wait";
  }

  private _busy(batch: Batch, status: number, retryAfterMs: number | undefined): Step {
    const smaller = this._source.limit.busy(batch);
    this._report.busy();
    if (!smaller || retryAfterMs !== undefined || !BUCKET.includes(status)) this._channel.hold(retryAfterMs);
    return "send";
  }

  private _refused(batch: Batch, status: number): Step {
    const { refusals } = this;
    refusals.status = status;
    if (!CONTENT.includes(status)) return this._hold();
    if (this._source.limit.refused(batch, status === TOO_LARGE)) return "send";
    return refusals.refused() ? "probe" : this._hold();
  }

  /** Whatever becomes of it, the point that was refused is still the first. */
  private _probed(batch: Batch, outcome: Outcome): Step {
    const { refusals } = this;
    if (outcome.kind === "busy") this._channel.hold(outcome.retryAfterMs);
    else if (outcome.kind === "refused") {
      refusals.outage = true;
      return this._hold();
    }
    // After a lost probe the point is to be refused once more.
    if (outcome.kind !== "done" || !refusals.accepted()) return "send";
    if (batch.number !== this._outbox.first) return "send";
    if (refusals.status !== TOO_LARGE) return this._dropRejectedPoint(batch);
    this._session.counters.error("TOO_LARGE", "");
    refusals.leftOut();
    return this._source.keyDropped(batch) ? this._dropRejectedPoint(batch) : "send";
  }

  private _hold(): Step {
    this._channel.hold(this.refusals.wait());
    return "send";
  }

  private _reported(outcome: Outcome): Step {
    if (outcome.kind === "done") this._report.reported();
    else if (outcome.kind === "busy") this._channel.hold(outcome.retryAfterMs);
    else if (outcome.kind === "refused") this._channel.hold();
    return "wait";
  }
}
