import type { Host } from "../port.js";
import { FRAME_BYTES } from "../wire/telemetry.js";
import { type Batch, BatchWriter, buildBatch } from "./batch.js";
import { BatchLimit } from "./batch-limit.js";
import type { Outbox } from "./outbox.js";
import type { TelemetrySettings } from "./telemetry-options.js";
import type { Time } from "./time.js";

/** Which points go out next, how many, and when. */
export class BatchSource {
  readonly limit: BatchLimit;
  readonly #host: Host;
  readonly #time: Time;
  readonly #outbox: Outbox;
  readonly #settings: TelemetrySettings;
  readonly #writer: BatchWriter;
  /** Keys of the first point that the platform has already, and which point that is. */
  #keysDone = 0;
  #keysDoneOf = -1;
  /** When the oldest point that waits was recorded, at the latest. */
  #oldestAt = Number.NEGATIVE_INFINITY;
  /** When the last batch was built. */
  #builtAt = 0;
  /** Bytes that wait, about. */
  #bytes = 0;

  constructor(host: Host, time: Time, outbox: Outbox, settings: TelemetrySettings) {
    this.#host = host;
    this.#time = time;
    this.#outbox = outbox;
    this.#settings = settings;
    this.limit = new BatchLimit(settings.batchPoints);
    const { bufferBytes, batchBytes, timestamps } = settings;
    this.#writer = new BatchWriter(outbox.ring.bytes, bufferBytes, batchBytes, timestamps === "platform");
  }

  /** As many points wait as go in one request. */
  get full(): boolean {
    return this.#outbox.waiting >= this.limit.points || this.#bytes >= this.#settings.batchBytes;
  }

  /** ms until the oldest point has waited long enough for others. */
  get untilDue(): number {
    const due = this.#oldestAt + this.#settings.batchAgeMs - this.#host.clock.now();
    return Math.max(0, Math.ceil(due));
  }

  /** A point of `bytes` went to the outbox. True if somebody has to look whether a batch is due. */
  added(bytes: number): boolean {
    const { waiting } = this.#outbox;
    if (waiting === 1) this.#oldestAt = this.#host.clock.now();
    this.#bytes += bytes + FRAME_BYTES;
    return waiting === 1 || waiting >= this.limit.points || this.#bytes >= this.#settings.batchBytes;
  }

  /** The next batch; undefined if nothing waits, or the time stamp of the first point is not known yet. */
  next(): Batch | undefined {
    const { points, keys } = this.limit;
    const fromKey = this.#keysDoneOf === this.#outbox.first ? this.#keysDone : 0;
    this.#builtAt = this.#host.clock.now();
    return buildBatch(this.#outbox, this.#time, this.#writer, { points, keys, fromKey });
  }

  /** The platform took this batch. True if its points are complete: keys of the first may be left. */
  done(batch: Batch): boolean {
    this.limit.done(batch);
    if (batch.toKey < batch.keys) {
      this.#keysDone = batch.toKey;
      this.#keysDoneOf = batch.number;
      return false;
    }
    this.gone(batch);
    return true;
  }

  /** The points of this batch are about to leave the outbox. */
  gone(batch: Batch): void {
    this.#keysDoneOf = -1;
    // The rest was recorded after the batch was built, or is more than one batch.
    this.#oldestAt = this.#builtAt;
    const rest = this.#outbox.waiting - batch.points;
    this.#bytes = rest > 0 ? Math.max(0, this.#bytes - batch.body.length) : 0;
  }
}
