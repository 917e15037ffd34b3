// The loop that sends points from the outbox to the platform (POST /api/v1/{token}/telemetry), and
// the application's calls.
//
// platform/body-sender.ts decides what an outcome means for the points: whether they leave the
// outbox, or are sent again, in smaller batches or later.

import type { Events } from "../../events.js";
import { type AbortSignalLike, checkSignal } from "../../platform/abort-signal.js";
import type { DeviceRequest, Job, Loop, Pacer, PlatformSession, Wait } from "../../platform/index.js";
import { BodySender, type Fate, HEAD_ROOM, post } from "../../platform/index.js";
import { checkTimeout, DEFAULT_TIMEOUT_MS, type WaitOptions } from "../../platform/wait.js";
import { TELEMETRY_PATH } from "../../wire/paths.js";
import { FRAME_BYTES, PointEncoder } from "../../wire/telemetry.js";
import type { LeftOut } from "../../wire/text/encode.js";
import { applicationTimestamp } from "../../wire/timestamp.js";
import type { Outbox } from "../queue/outbox.js";
import type { Drops } from "../queue/record.js";
import type { Time } from "../time/time.js";
import type { TelemetryApi } from "./api.js";
import { type Batch, BatchBuilder } from "./batch.js";
import { DeliveryReport } from "./delivery-report.js";
import { type Flushed, FlushQueue } from "./flush-queue.js";

/** The host does not notify when the time becomes known, so check at this interval. */
const TIME_CHECK_MS = 1000;
const POLL_FLUSH_MS = 5000;
/** Time to send points that flash cannot store, before a stop. */
const AT_RISK_MS = 2000;

/**
 * State of the loop.
 * - `wait`: until a batch is full or old enough, or a flush was requested.
 * - `send`: a batch is sent.
 * - `report`: drops are reported to the platform.
 */
type Step = "wait" | "send" | "report";

export class Telemetry implements Job, TelemetryApi {
  readonly bodies: BodySender;
  private readonly _session: PlatformSession;
  private readonly _pacer: Pacer;
  private readonly _events: Events;
  private readonly _loop: Loop;
  private readonly _outbox: Outbox;
  private readonly _points: PointEncoder;
  private readonly _builder: BatchBuilder;
  private readonly _report: DeliveryReport;
  private readonly _flushes: FlushQueue;
  private _step: Step = "wait";
  /** Latest possible time when the oldest waiting point was recorded. */
  private _oldestAt = Number.NEGATIVE_INFINITY;
  /** Time when the last batch was built. */
  private _builtAt = 0;
  /** Approximate size of the waiting points, in bytes. */
  private _bytes = 0;
  /** Points wait, but the time stamp of the first one is not known. */
  private _waitsForTime = false;
  private _isTimeLogged = false;

  constructor(session: PlatformSession, events: Events, time: Time, outbox: Outbox) {
    this._session = session;
    this._points = new PointEncoder(session.redactor);
    this._pacer = session.pacer("telemetry");
    this._events = events;
    this._loop = session.loop("telemetry", this);
    this._outbox = outbox;
    this._report = new DeliveryReport(session, events, time, outbox);
    this._flushes = new FlushQueue(session.host.clock, outbox);
    const { timestamps, batchPoints } = outbox.settings;
    // The platform gives all points of a request the same time stamp.
    const most = timestamps === "platform" ? 1 : batchPoints;
    this.bodies = new BodySender(session, "telemetry", most, this);
    this._builder = new BatchBuilder(outbox);
  }

  /** Documented in `TelemetryApi`, like the following members. */
  record(values: Record<string, unknown>, options?: { readonly ts?: number | undefined }): boolean {
    const given = options?.ts;
    const ts = given === undefined ? undefined : applicationTimestamp(given);
    if (typeof ts === "string") throw this._session.counters.emitError("BAD_VALUE", ts);
    const { text, leftOut } = this._encode(values);
    const { counters } = this._session;
    if (leftOut) counters.countLeftOut("a point", leftOut);
    if (!text) counters.emptyPoints++;
    if (!text || !this._outbox.append(text, ts)) return false;
    const { waiting } = this._outbox;
    if (waiting === 1) this._oldestAt = this._session.host.clock.now();
    this._bytes += text.length + FRAME_BYTES;
    if (waiting === 1 || this._fillsBatch(waiting)) this._loop.notify();
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

  async flush({ timeoutMs = DEFAULT_TIMEOUT_MS, signal }: WaitOptions = {}): Promise<Flushed> {
    checkTimeout(timeoutMs);
    checkSignal(signal);
    return this._flush(timeoutMs, signal);
  }

  private _flush(timeoutMs: number, signal?: AbortSignalLike): Promise<Flushed> {
    const flushed = this._flushes.whenGone(timeoutMs, this._session.running, signal);
    this._loop.notify();
    return flushed;
  }

  /**
   * Sends points that only memory holds because flash fails, as far as 2 s allow. Undefined if
   * there are none or the platform is not reachable.
   */
  sendAtRisk(): Promise<unknown> | undefined {
    const canSend = this._outbox.atRisk > 0 && this._session.online === true;
    return canSend ? this._flush(AT_RISK_MS) : undefined;
  }

  /** An RPC poll ended. If polls share the uplink, points would wait for the whole next poll. */
  rpcPollEnded(): void {
    if (this._session.connections.sharesUplink) void this._flush(POLL_FLUSH_MS);
  }

  /** True if nothing is left to send or report, or if the platform currently rejects everything. */
  get idle(): boolean {
    return this.bodies.outage || (this._outbox.waiting === 0 && !this._report.isDue);
  }

  /** Called by `bodies`. */
  probe(): DeviceRequest {
    return post(TELEMETRY_PATH, this._report.probe());
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
    this._flushes.endAll();
    this._report.stopWatching();
  }

  private async _exchange(step: Step): Promise<Wait> {
    await this._pacer.ready();
    const isRunning = this._session.running;
    const batch = isRunning && step === "send" ? this._nextBatch() : undefined;
    if (batch) this._step = this._sent(batch, await this._send(batch));
    else {
      if (isRunning && step === "report") await this._sendReport();
      this._step = "wait";
    }
    return 0;
  }

  /** ms until a batch or, if no points wait, a report is due. Undefined: wait to be notified. */
  private _untilDue(): number | undefined {
    this._flushes.endSome();
    const { waiting, settings } = this._outbox;
    if (waiting === 0) return this._report.untilDue;
    if (this._waitsForTime) {
      this._waitsForTime = false;
      return TIME_CHECK_MS;
    }
    if (this._fillsBatch(waiting) || this._flushes.waiting) return 0;
    return Math.max(0, Math.ceil(this._oldestAt + settings.batchAgeMs - this._session.host.clock.now()));
  }

  private _fillsBatch(waiting: number): boolean {
    return waiting >= this.bodies.size || this._bytes >= this._outbox.settings.batchBytes;
  }

  private _nextBatch(): Batch | undefined {
    const { _outbox: outbox } = this;
    const { host } = this._session;
    this._builtAt = host.clock.now();
    const batch = this._builder.build(this.bodies.size);
    this._waitsForTime = !batch && outbox.waiting > 0;
    if (this._waitsForTime && !outbox.isUnreadable && !this._isTimeLogged) {
      this._isTimeLogged = true;
      host.log("warn", "the time is not known yet: telemetry waits until it is");
    }
    return batch;
  }

  /** Called before the points of this batch leave the outbox. */
  private _leaving({ points, body }: Batch): void {
    // The other points were recorded after this batch was built, or they exceed one batch.
    this._oldestAt = this._builtAt;
    this._bytes = this._outbox.waiting > points ? Math.max(0, this._bytes - body.length) : 0;
  }

  private _send({ body, points, number }: Batch): Promise<Fate> {
    const request = { ...post(TELEMETRY_PATH, body), headRoom: HEAD_ROOM };
    return this.bodies.send(request, points, String(number));
  }

  private _sent(batch: Batch, fate: Fate): Step {
    if (this.bodies.isBusy) this._report.busy();
    if (fate === "accepted") return this._delivered(batch);
    // The queue may have dropped the point meanwhile.
    if (fate === "again" || batch.number !== this._outbox.first) return "send";
    this._leaving(batch);
    this._outbox.dropRefused(batch.number + 1);
    return this._report.isDue ? "report" : "wait";
  }

  private _delivered(batch: Batch): Step {
    this._leaving(batch);
    this._flushes.delivered(batch.number, batch.points);
    this._outbox.confirm(batch.number + batch.points);
    this._report.delivered(batch.guessed);
    this._events.emit("delivered", { points: batch.points });
    return this._report.isDue ? "report" : "wait";
  }

  private async _sendReport(): Promise<void> {
    const outcome = await this._session.send("telemetry", post(TELEMETRY_PATH, this._report.body()));
    if (outcome.kind === "done") this._report.accepted();
    else this._pacer.after(outcome);
  }
}
