import type { Host } from "../../port.js";
import { FRAME_BYTES } from "../../wire/telemetry.js";
import type { Outbox } from "../queue/index.js";
import type { Time } from "../time/time.js";
import { type Batch, BatchWriter, buildBatch } from "./batch.js";
import { BatchLimit } from "./batch-limit.js";

/** Which points go out next, how many, and when. */
export class BatchSource {
  readonly limit: BatchLimit;
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _outbox: Outbox;
  private readonly _writer: BatchWriter;
  /** Keys of the first point that the platform has already, and which point that is. */
  private _keysDone = 0;
  private _keysDoneOf: number | undefined;
  /** The number of a point of which keys were dropped. */
  private _keyDroppedOf: number | undefined;
  /** When the oldest point that waits was recorded, at the latest. */
  private _oldestAt = Number.NEGATIVE_INFINITY;
  /** When the last batch was built. */
  private _builtAt = 0;
  private _timeLogged = false;
  /** Bytes that wait, about. */
  private _bytes = 0;

  constructor(host: Host, time: Time, outbox: Outbox) {
    this._host = host;
    this._time = time;
    this._outbox = outbox;
    this.limit = new BatchLimit(outbox.settings.batchPoints);
    const { bufferBytes, batchBytes, timestamps } = outbox.settings;
    this._writer = new BatchWriter(outbox.ring.bytes, bufferBytes, batchBytes, timestamps === "platform");
  }

  /** As many points wait as go in one request. */
  get full(): boolean {
    return this._outbox.waiting >= this.limit.points || this._bytes >= this._outbox.settings.batchBytes;
  }

  /** ms until the oldest point has waited long enough for others. */
  get untilDue(): number {
    const due = this._oldestAt + this._outbox.settings.batchAgeMs - this._host.clock.now();
    return Math.max(0, Math.ceil(due));
  }

  /** A point of `bytes` went to the outbox. True if somebody has to look whether a batch is due. */
  added(bytes: number): boolean {
    const { waiting } = this._outbox;
    if (waiting === 1) this._oldestAt = this._host.clock.now();
    this._bytes += bytes + FRAME_BYTES;
    return waiting === 1 || waiting >= this.limit.points || this._bytes >= this._outbox.settings.batchBytes;
  }

  /** The next batch; undefined if nothing waits, or the time stamp of the first point is not known yet. */
  next(): Batch | undefined {
    const { points, keys } = this.limit;
    const fromKey = this._keysDoneOf === this._outbox.first ? this._keysDone : 0;
    this._builtAt = this._host.clock.now();
    const batch = buildBatch(this._outbox, this._time, this._writer, { points, keys, fromKey });
    const { waiting, isUnreadable } = this._outbox;
    if (batch || waiting === 0 || isUnreadable || this._timeLogged) return batch;
    this._timeLogged = true;
    this._host.log("warn", "the time is not known yet: telemetry waits for it");
    return undefined;
  }

  /** The platform took this batch. `part`: keys of the first point are left; `key dropped`: none are, but one was dropped. */
  done(batch: Batch): "whole" | "part" | "key dropped" {
    this.limit.done(batch);
    if (batch.toKey < batch.keys) {
      this._passKeys(batch);
      return "part";
    }
    if (this._keyDroppedOf === batch.number) return "key dropped";
    this.gone(batch);
    return "whole";
  }

  /** The one key in this batch is dropped from its point. True if it was the last. */
  keyDropped(batch: Batch): boolean {
    this._keyDroppedOf = batch.number;
    this._passKeys(batch);
    return batch.toKey >= batch.keys;
  }

  private _passKeys(batch: Batch): void {
    this._keysDone = batch.toKey;
    this._keysDoneOf = batch.number;
  }

  /** The points of this batch are about to leave the outbox. */
  gone(batch: Batch): void {
    this._keysDoneOf = this._keyDroppedOf = undefined;
    // The rest was recorded after the batch was built, or is more than one batch.
    this._oldestAt = this._builtAt;
    const rest = this._outbox.waiting - batch.points;
    this._bytes = rest > 0 ? Math.max(0, this._bytes - batch.body.length) : 0;
  }
}
