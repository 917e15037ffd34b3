import type { BodySender } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { FRAME_BYTES } from "../../wire/telemetry.js";
import type { Outbox } from "../queue/outbox.js";
import { type Batch, BatchWriter, buildBatch } from "./batch.js";

/** `size`: points of the next batch, at most. */
type BatchLimit = Pick<BodySender, "size">;

/** Chooses the points of the next batch and the time to send it. */
export class BatchSource {
  private readonly _host: Host;
  private readonly _outbox: Outbox;
  private readonly _limit: BatchLimit;
  private readonly _writer: BatchWriter;
  /** Latest possible time when the oldest waiting point was recorded. */
  private _oldestAt = Number.NEGATIVE_INFINITY;
  /** Time when the last batch was built. */
  private _builtAt = 0;
  private _timeLogged = false;
  /** Approximate size of the waiting points, in bytes. */
  private _bytes = 0;

  constructor(host: Host, outbox: Outbox, limit: BatchLimit) {
    this._host = host;
    this._outbox = outbox;
    this._limit = limit;
    this._writer = new BatchWriter(outbox);
  }

  /** True if the waiting points fill one request. */
  get full(): boolean {
    return this._outbox.waiting >= this._limit.size || this._bytes >= this._outbox.settings.batchBytes;
  }

  /** ms until the oldest point has waited long enough to be sent. */
  get untilDue(): number {
    const due = this._oldestAt + this._outbox.settings.batchAgeMs - this._host.clock.now();
    return Math.max(0, Math.ceil(due));
  }

  /**
   * Called after a point of `bytes` was queued. True if the time of the next batch changed: no
   * other point waits, or the points fill a request.
   */
  added(bytes: number): boolean {
    const { waiting } = this._outbox;
    if (waiting === 1) this._oldestAt = this._host.clock.now();
    this._bytes += bytes + FRAME_BYTES;
    return waiting === 1 || waiting >= this._limit.size || this._bytes >= this._outbox.settings.batchBytes;
  }

  /** The next batch. Undefined if nothing waits or the first point's time stamp is unknown. */
  buildNext(): Batch | undefined {
    this._builtAt = this._host.clock.now();
    const batch = buildBatch(this._outbox, this._writer, this._limit.size);
    const { waiting, isUnreadable } = this._outbox;
    if (batch || waiting === 0 || isUnreadable || this._timeLogged) return batch;
    this._timeLogged = true;
    this._host.log("warn", "the time is not known yet: telemetry waits until it is");
    return undefined;
  }

  /** Called before the points of this batch leave the outbox. */
  leaving(batch: Batch): void {
    // The other points were recorded after this batch was built, or they exceed one batch.
    this._oldestAt = this._builtAt;
    const rest = this._outbox.waiting - batch.points;
    this._bytes = rest > 0 ? Math.max(0, this._bytes - batch.body.length) : 0;
  }
}
