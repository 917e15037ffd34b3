// The loop that sends points from the outbox to the platform (POST /api/v1/{token}/telemetry), and
// the application's calls.
//
// The outcome of a request decides: `done` removes the points; `busy` and `lost` keep them and
// retry with a smaller batch or later. A point that is refused alone is dropped only if the
// platform accepts a probe right after it. Otherwise the address, the token, a proxy or the
// platform is the problem, and all points are kept (refusal-policy.ts).

import type { Events } from "../../events.js";
import { type Outcome, UNANSWERED } from "../../http/outcome.js";
import type { DeviceRequest, Job, Loop, Pacer, PlatformSession, Wait } from "../../platform/index.js";
import { CONTENT, HEAD_ROOM, LostBodies, post, TOO_LARGE } from "../../platform/index.js";
import type { AbortSignalLike } from "../../platform/wait.js";
import { TELEMETRY_PATH } from "../../wire/paths.js";
import { PointEncoder } from "../../wire/telemetry.js";
import type { LeftOut } from "../../wire/text/encode.js";
import { applicationTimestamp } from "../../wire/timestamp.js";
import type { Drops, Outbox } from "../queue/outbox.js";
import type { Time } from "../time/time.js";
import type { Batch } from "./batch.js";
import { BatchSource } from "./batch-source.js";
import { DeliveryReport } from "./delivery-report.js";
import { type Flushed, FlushQueue } from "./flush-queue.js";
import { RefusalPolicy } from "./refusal-policy.js";

export type { RefusalMemory } from "./refusal-policy.js";

/** The host does not notify when the time becomes known, so check at this interval. */
const TIME_CHECK_MS = 1000;
const POLL_FLUSH_MS = 5000;
/** Time to send points that flash cannot store, before a stop. */
const AT_RISK_MS = 2000;
/** A batch without an answer for so long may be too large for the link or the platform. */
const SLOW_MS = 15_000;
/** Statuses of an exhausted rate limit: a smaller batch may pass at once. */
const BUCKET = [429, 500];

/**
 * State of the loop.
 * - `wait`: until a batch is full or old enough, or a flush was requested.
 * - `send`: a batch is sent.
 * - `probe`: a single point was refused; a probe tests whether its content is the reason.
 * - `report`: drops are reported to the platform.
 */
type Step = "wait" | "send" | "probe" | "report";

export class Telemetry implements Job {
  readonly refusals: RefusalPolicy;
  private readonly _session: PlatformSession;
  private readonly _pacer: Pacer;
  private readonly _lostBodies: LostBodies;
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
  /** Points wait, but the time stamp of the first one is not known. */
  private _waitsForTime = false;

  constructor(session: PlatformSession, events: Events, time: Time, outbox: Outbox) {
    this._session = session;
    this._points = new PointEncoder(session.redactor);
    this._pacer = session.pacer("telemetry");
    this._lostBodies = new LostBodies(session, "telemetry");
    this._events = events;
    this._loop = session.loop("telemetry", this);
    this._outbox = outbox;
    this._source = new BatchSource(session.host, outbox);
    this._report = new DeliveryReport(session, events, time, outbox);
    this._flushes = new FlushQueue(session.host.clock, outbox);
    this.refusals = new RefusalPolicy(session.host, this._source.limit, this._lostBodies);
    outbox.whenFound(() => this._renumbered());
  }

  /** Documented in `TelemetryApi`, like the following members. */
  record(values: Record<string, unknown>, options?: { readonly ts?: number | undefined }): boolean {
    const given = options?.ts;
    const ts = given === undefined ? undefined : applicationTimestamp(given);
    if (typeof ts === "string") throw this._session.counters.emitError("BAD_VALUE", ts);
    const { text, leftOut } = this._encode(values);
    const { counters } = this._session;
    counters.countLeftOut("a point", leftOut);
    if (!text) counters.emptyPoints++;
    if (!text || !this._outbox.append(text, ts)) return false;
    if (this._source.added(text.length)) this._loop.notify();
    return true;
  }

  check(values: Record<string, unknown>): Uint8Array | undefined {
    return this._encode(values).text;
  }

  /** `text` is undefined if no value is left. */
  private _encode(values: Record<string, unknown>): { text?: Uint8Array; leftOut?: LeftOut | undefined } {
    const { counters, host } = this._session;
    const most = this._outbox.maxText;
    let limit = most;
    for (;;) {
      const encoded = this._points.encode(values, limit);
      const { leftOut } = encoded;
      if (!encoded.ok && !leftOut) throw counters.emitError("BAD_VALUE", encoded.reason);
      if (!encoded.ok) return { leftOut };
      const text = host.encode(encoded.text);
      if (text.length <= most) return { text, leftOut };
      // Characters may take several bytes.
      limit = Math.min(limit - 1, Math.floor((encoded.text.length * most) / text.length));
    }
  }

  get waiting(): number {
    return this._outbox.waiting;
  }

  get dropped(): Readonly<Drops> {
    const { full, refused, unreadable } = this._outbox.dropped;
    return { full, refused, unreadable };
  }

  flush(timeoutMs: number, signal?: AbortSignalLike): Promise<Flushed> {
    const flushed = this._flushes.add(timeoutMs, this._session.running, signal);
    this._loop.notify();
    return flushed;
  }

  /**
   * Sends points that only memory holds because flash fails, as far as 2 s allow. Undefined if
   * there are none or the platform is not reachable.
   */
  sendAtRisk(): Promise<unknown> | undefined {
    const canSend = this._outbox.atRisk > 0 && this._session.online === true;
    return canSend ? this.flush(AT_RISK_MS) : undefined;
  }

  /** An RPC poll ended. If polls share the uplink, points would wait for the whole next poll. */
  rpcPollEnded(): void {
    if (this._session.connections.sharesUplink) void this.flush(POLL_FLUSH_MS);
  }

  /** True if nothing is left to send or report, or if the platform currently rejects everything. */
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
    return this._exchange(this._step);
  }

  end(): void {
    this._outbox.sync();
    this._flushes.end();
    this._report.end();
  }

  private async _exchange(step: Step): Promise<Wait> {
    await this._pacer.ready();
    const request = this._session.running ? this._request(step) : undefined;
    this._step = request ? this._nextStep(step, await this._send(step, request)) : "wait";
    return 0;
  }

  /** ms until a batch or, if no points wait, a report is due. Undefined: wait to be notified. */
  private _untilDue(): number | undefined {
    this._flushes.check();
    if (this._outbox.waiting === 0) return this._report.untilDue;
    if (this._waitsForTime) {
      this._waitsForTime = false;
      return TIME_CHECK_MS;
    }
    return this._source.full || this._flushes.waiting ? 0 : this._source.untilDue;
  }

  private _request(step: Step): DeviceRequest | undefined {
    const body = this._body(step);
    this._sentAt = this._session.host.clock.now();
    return body && { ...post(TELEMETRY_PATH, body), ...(step === "send" && { headRoom: HEAD_ROOM }) };
  }

  private _send(step: Step, request: DeviceRequest): Promise<Outcome> {
    const batch = this._batch;
    if (step !== "send" || !batch) return this._session.send("telemetry", request);
    return this._lostBodies.send(request, batch.points > 1 ? "" : String(batch.number));
  }

  private _body(step: Step): Uint8Array | undefined {
    if (step === "send") return this._nextBatch()?.body;
    return step === "probe" ? this._report.probe() : this._report.body();
  }

  private _nextBatch(): Batch | undefined {
    this._batch = this._source.next();
    this._waitsForTime = !this._batch && this._outbox.waiting > 0;
    return this._batch;
  }

  private _nextStep(step: Step, outcome: Outcome): Step {
    if (step === "report") return this._reported(outcome);
    const batch = this._batch;
    if (!batch) return "wait";
    if (step === "probe") return this._probeEnded(batch, outcome);
    if (outcome.kind === "done") return this._delivered(batch);
    if (outcome.kind === "refused") return this._batchRefused(batch, outcome.status);
    if (outcome.kind === "busy") return this._busy(batch, outcome.status, outcome.retryAfterMs);
    // A batch that is too large can also cause a time-out, or the end of a wake.
    const slowMs = Math.min(SLOW_MS, this._session.connections.longestBodyMs);
    if (this._session.host.clock.now() - this._sentAt >= slowMs) this._source.limit.shrink(batch, true);
    return "send";
  }

  /** The outcome of a batch on its way says nothing about the points that now have its numbers. */
  private _renumbered(): void {
    this._batch = undefined;
    this._loop.notify();
  }

  private _delivered(batch: Batch): Step {
    this._pacer.clear();
    this.refusals.passed();
    this._source.limit.done();
    this._source.leaving(batch);
    this._flushes.delivered(batch.number, batch.points);
    this._outbox.confirm(batch.number + batch.points);
    this._report.delivered(batch.guessed);
    this._events.emit("delivered", { points: batch.points });
    return this._report.isDue ? "report" : "wait";
  }

  private _dropRejectedPoint(batch: Batch): Step {
    this._source.leaving(batch);
    this._outbox.dropRefused(batch.number + 1);
    return this._report.isDue ? "report" : "wait";
  }

  private _busy(batch: Batch, status: number, retryAfterMs: number | undefined): Step {
    const smaller = this._source.limit.shrink(batch, true);
    this._report.busy();
    const isBucket = BUCKET.includes(status);
    const verdict = isBucket && !smaller ? this.refusals.busyAlone(batch.number) : "keep";
    if (verdict === "drop") return this._dropRejectedPoint(batch);
    if (verdict === "probe") return "probe";
    if (!smaller || retryAfterMs !== undefined || !isBucket) this._pacer.slow(retryAfterMs);
    return "send";
  }

  private _batchRefused(batch: Batch, status: number): Step {
    const { refusals } = this;
    refusals.noteRefusal(status);
    if (!CONTENT.includes(status)) return this._hold();
    if (this._source.limit.shrink(batch, TOO_LARGE.includes(status))) return "send";
    return refusals.takeProbe() ? "probe" : this._hold();
  }

  /** The refused point is still at the head of the queue. */
  private _probeEnded(batch: Batch, outcome: Outcome): Step {
    const { refusals } = this;
    if (outcome.kind === "busy") this._pacer.after(outcome);
    else if (outcome.kind === "refused" || (outcome.kind === "lost" && refusals.status === UNANSWERED)) {
      refusals.probeRefused();
      return this._hold();
    }
    // After a lost probe, send the point again to repeat the refusal.
    if (outcome.kind !== "done" || !refusals.probeAccepted()) return "send";
    if (batch.number !== this._outbox.first) return "send";
    return this._dropRejectedPoint(batch);
  }

  private _hold(): Step {
    this._pacer.pause(this.refusals.nextDelayMs());
    return "send";
  }

  private _reported(outcome: Outcome): Step {
    if (outcome.kind === "done") this._report.reported();
    else this._pacer.after(outcome);
    return "wait";
  }
}
