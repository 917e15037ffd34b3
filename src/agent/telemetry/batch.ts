import { BEFORE_BYTES, FRAME_BYTES, LISTED_BYTES, PointFrame } from "../../wire/telemetry.js";
import type { Timestamp } from "../../wire/timestamp.js";
import { BATCH_FRONT, type Outbox } from "../queue/outbox.js";
import { epochOf, GIVEN, kindOf, lengthOf, POINT_HEAD, padded, readValue } from "../queue/record.js";
import type { EpochTime } from "../queue/stamps.js";
import { KeySet } from "./point-keys.js";

/** The body of one POST: the first waiting points. */
export interface Batch {
  readonly points: number;
  /** The number of the first point in it. */
  readonly number: number;
  /** The request body; valid until the next batch is built. */
  readonly body: Uint8Array;
  /** Number of points whose time stamp is a guess. */
  readonly guessed: number;
}

const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;

/**
 * Writes the body of a batch point by point, in the outbox's buffer. Moves within one buffer are
 * native, the fastest way on XS.
 */
export class BatchWriter {
  points = 0;
  readonly separatesKeys: boolean;
  private readonly _bytes: Uint8Array;
  private readonly _frame: PointFrame;
  /** Start and limit of the body. Every point, including the first, has a comma before it. */
  private readonly _from: number;
  private readonly _most: number;
  private _to = 0;
  private readonly _keys: KeySet | undefined;
  /** The first point has too many keys to compare them with others. */
  private _isAlone = false;

  /**
   * `separatesKeys`: points that share a key go into separate batches, because the platform gives
   * all points of a batch one time stamp.
   */
  constructor({ bytes, front, settings }: Outbox) {
    this._bytes = bytes;
    this._frame = new PointFrame(bytes, front);
    this._from = front + BATCH_FRONT;
    this._most = this._from + settings.batchBytes;
    this.separatesKeys = settings.timestamps === "platform";
    this._keys = this.separatesKeys ? new KeySet() : undefined;
  }

  startBody(): void {
    this.points = 0;
    this._to = this._from;
    this._keys?.clear();
    this._isAlone = false;
  }

  /** Where a record may be read to, so that its text lies at or behind its place in the body. */
  get target(): number {
    return padded(this._to + BEFORE_BYTES - POINT_HEAD);
  }

  /** Adds the point with the text from `from` to `to`. False if it does not fit the batch. */
  add(from: number, to: number, ts: Timestamp | undefined): boolean {
    const own = this._bytes;
    const length = to - from;
    let at = this._to;
    if (at + length + FRAME_BYTES > this._most) {
      if (ts !== undefined || at + length + LISTED_BYTES > this._most) return false;
    }
    if (ts !== undefined) at = this._frame.put(at, ts);
    else if (!this._canJoin(from, to)) return false;
    else own[at++] = COMMA;
    own.copyWithin(at, from, to);
    at += length;
    this.points++;
    if (ts !== undefined) own[at++] = CLOSE_BRACE;
    this._to = at;
    return true;
  }

  /** The body: an object for one point, an array for more. `HEAD_ROOM` bytes before it are free. */
  body(): Uint8Array {
    const own = this._bytes;
    if (this.points === 1) return own.subarray(this._from + 1, this._to);
    own[this._from] = OPEN_BRACKET;
    own[this._to] = CLOSE_BRACKET;
    return own.subarray(this._from, this._to + 1);
  }

  /** True if a point without a time stamp can join this batch. */
  private _canJoin(from: number, to: number): boolean {
    if (!this._keys) return true;
    if (this._isAlone) return false;
    this._isAlone = !this._keys.add(this._bytes, from, to);
    return !this._isAlone || this.points === 0;
  }
}

/**
 * Builds the body of the next request: at most `most` points. Undefined if nothing waits or the
 * first point's time stamp is unknown.
 */
export const buildBatch = (outbox: Outbox, writer: BatchWriter, most: number): Batch | undefined => {
  const { separatesKeys } = writer;
  const { words, stamps } = outbox;
  let guessed = 0;
  let epoch = -1;
  let lastTick = -1;
  let time: EpochTime | undefined;
  writer.startBody();
  outbox.rewind();
  while (writer.points < most) {
    const isFirst = writer.points === 0;
    const at = outbox.step(writer, isFirst);
    if (at < 0) break;
    const value = readValue(words, at);
    const isGiven = kindOf(words, at) === GIVEN;
    const hasTick = !isGiven && !separatesKeys;
    const found = hasTick ? epochOf(words, at) : epoch;
    if (found !== epoch) {
      // This may read to the buffer, and drop the oldest points to store the time.
      if (isFirst && stamps.prepare(found, value)) {
        outbox.rewind();
        continue;
      }
      if (lastTick >= 0) stamps.use(epoch, lastTick);
      time = stamps.timeOf(found, value);
      epoch = found;
    }
    let ts = isGiven ? value : undefined;
    if (hasTick) ts = time && time.start + value;
    const end = at + lengthOf(words, at);
    if ((hasTick && !time) || !writer.add(at + POINT_HEAD, end, ts as Timestamp | undefined)) {
      outbox.back(at);
      break;
    }
    if (!hasTick) continue;
    lastTick = value;
    if (time && value < time.exactFrom) guessed++;
  }
  if (lastTick >= 0) stamps.use(epoch, lastTick);
  if (writer.points === 0) return undefined;
  return { points: writer.points, number: outbox.first, body: writer.body(), guessed };
};
