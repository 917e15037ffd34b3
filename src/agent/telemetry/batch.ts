import { FRAME_BYTES, LISTED_BYTES, PointFrame } from "../../wire/telemetry.js";
import { isTimestamp, type Timestamp } from "../../wire/timestamp.js";
import { BATCH_FRONT, type Outbox } from "../queue/outbox.js";
import { epochOf, POINT_HEAD, TWO_32 } from "../queue/record.js";
import type { Time } from "../time/time.js";
import { GIVEN, TICKS } from "../time/time.js";
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
 * Writes the body of a batch point by point. Text from the same buffer is moved natively, the
 * fastest way on XS.
 */
export class BatchWriter {
  points = 0;
  private readonly _bytes: Uint8Array;
  private readonly _frame: PointFrame;
  /** Start and limit of the body. Every point, including the first, has a comma before it. */
  private readonly _from: number;
  private readonly _most: number;
  private _to = 0;
  readonly separatesKeys: boolean;
  private readonly _keys: KeySet | undefined;
  /** The first point has too many keys to compare them with others. */
  private _isAlone = false;

  /**
   * Uses `roomOf(limit)` bytes from `at` on. `separatesKeys`: points that share a key go
   * into separate batches, because the platform gives all points of a batch one time stamp.
   */
  constructor(bytes: Uint8Array, at: number, limit: number, separatesKeys: boolean) {
    this._bytes = bytes;
    this._frame = new PointFrame(bytes, at);
    this._from = at + BATCH_FRONT;
    this._most = at + BATCH_FRONT + limit;
    this.separatesKeys = separatesKeys;
    this._keys = separatesKeys ? new KeySet() : undefined;
  }

  begin(): void {
    this.points = 0;
    this._to = this._from;
    this._keys?.clear();
    this._isAlone = false;
  }

  /** Adds the point with the text from `from` to `to`. False if it does not fit the batch. */
  add(bytes: Uint8Array, from: number, to: number, ts: Timestamp | undefined): boolean {
    const own = this._bytes;
    const length = to - from;
    let at = this._to;
    if (at + length + FRAME_BYTES > this._most) {
      if (ts !== undefined || at + length + LISTED_BYTES > this._most) return false;
    }
    if (ts !== undefined) at = this._frame.write(at, ts);
    else if (!this._canJoin(bytes, from, to)) return false;
    else own[at++] = COMMA;
    if (bytes === own) own.copyWithin(at, from, to);
    else own.set(bytes.subarray(from, to), at);
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
  private _canJoin(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this._keys) return true;
    if (this._isAlone) return false;
    this._isAlone = !this._keys.add(bytes, from, to);
    return !this._isAlone || this.points === 0;
  }
}

/**
 * Builds the body of the next request, of at most `most` points. Undefined if nothing waits or the
 * first point's time stamp is unknown.
 */
export const buildBatch = (
  outbox: Outbox,
  times: Time,
  writer: BatchWriter,
  most: number,
): Batch | undefined => {
  const { separatesKeys } = writer;
  let guessed = 0;
  writer.begin();
  outbox.rewind();
  while (writer.points < most) {
    const storage = outbox.step();
    if (!storage) break;
    const { bytes, words, at, end } = storage;
    // Like kindOf and timeOf, but inlined, because this runs for each point.
    const word = at >> 2;
    const kind = ((words[word + 1] as number) >> 16) & 0xff;
    const time = ((words[word + 3] as number) & 0xffff) * TWO_32 + ((words[word + 2] as number) >>> 0);
    const isStamped = kind !== TICKS && isTimestamp(time);
    let ts = isStamped && (!separatesKeys || kind === GIVEN) ? time : undefined;
    if (!isStamped && !separatesKeys) {
      ts = times.resolve(kind, epochOf(words, at), time);
      if (ts === undefined) break;
    }
    if (!writer.add(bytes, at + POINT_HEAD, end, ts)) {
      storage.back();
      break;
    }
    if (!isStamped && !separatesKeys && times.guessed(kind, epochOf(words, at), time)) guessed++;
  }
  if (writer.points === 0) return undefined;
  const body = writer.body();
  return { points: writer.points, number: outbox.first, body, guessed };
};
