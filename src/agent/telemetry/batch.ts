import { BEFORE_BYTES, FRAME_BYTES, LISTED_BYTES, PointFrame } from "../../wire/telemetry.js";
import { isTimestamp, type Timestamp } from "../../wire/timestamp.js";
import { BATCH_FRONT, type Outbox } from "../queue/outbox.js";
import { epochOf, POINT_HEAD, TWO_32 } from "../queue/record.js";
import type { Time } from "../time/time.js";
import { GIVEN, TICKS } from "../time/time.js";
import { countMembers, KeySet, memberAt } from "./point-keys.js";

/** The body of one POST: the first waiting points, or some keys of the first point. */
export interface Batch {
  readonly points: number;
  /** The number of the first point in it. */
  readonly number: number;
  /** The request body; valid until the next batch is built. */
  readonly body: Uint8Array;
  /** Number of points whose time stamp is a guess. */
  readonly guessed: number;
  /** For a single point: its number of keys and the range in this batch. 0 for several points. */
  readonly keys: number;
  readonly fromKey: number;
  readonly toKey: number;
}

const OPEN_BRACE = 0x7b;
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
  keys = 0;
  fromKey = 0;
  toKey = 0;
  private readonly _bytes: Uint8Array;
  private readonly _frame: PointFrame;
  /** Start and limit of the body. Every point, including the first, has a comma before it. */
  private readonly _from: number;
  private readonly _most: number;
  private _to = 0;
  /** End of the text of the first point. */
  private _firstTo = 0;
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
    this.keys = this.fromKey = this.toKey = 0;
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
    if (this.points++ === 0) this._firstTo = at;
    if (ts !== undefined) own[at++] = CLOSE_BRACE;
    this._to = at;
    return true;
  }

  /** Restarts with the first point, limited to `most` of its keys from `fromKey` on. */
  cut(
    bytes: Uint8Array,
    from: number,
    to: number,
    ts: Timestamp | undefined,
    fromKey: number,
    most: number,
  ): void {
    this.begin();
    const own = this._bytes;
    this.keys = countMembers(bytes, from, to);
    this.fromKey = fromKey < this.keys ? fromKey : 0;
    this.toKey = Math.min(this.keys, this.fromKey + most);
    const begin = memberAt(bytes, from, to, this.fromKey);
    const end = memberAt(bytes, from, to, this.toKey) - 1;
    let at = ts === undefined ? this._from + 1 : this._frame.write(this._from, ts);
    own[at++] = OPEN_BRACE;
    own.set(bytes.subarray(begin, end), at);
    at += end - begin;
    own[at++] = CLOSE_BRACE;
    if (ts !== undefined) own[at++] = CLOSE_BRACE;
    this._to = at;
    this.points = 1;
  }

  /** The body: an object for one point, an array for more. `HEAD_ROOM` bytes before it are free. */
  body(): Uint8Array {
    const own = this._bytes;
    if (this.points === 1) {
      const first = this._from + (this._firstTo < this._to ? BEFORE_BYTES : 1);
      if (this.keys === 0) this.toKey = this.keys = countMembers(own, first, this._firstTo);
      return own.subarray(this._from + 1, this._to);
    }
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
 * Builds the body of the next request: at most `part.points` points or, for one point, at most
 * `part.keys` keys from `part.fromKey` on. Undefined if nothing waits or the first point's time
 * stamp is unknown.
 */
export const buildBatch = (
  outbox: Outbox,
  times: Time,
  writer: BatchWriter,
  part: { readonly points: number; readonly keys: number; readonly fromKey: number },
): Batch | undefined => {
  const { separatesKeys } = writer;
  const { points: most } = part;
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
    if (most === 1) writer.cut(bytes, at + POINT_HEAD, end, ts, part.fromKey, part.keys);
    else if (!writer.add(bytes, at + POINT_HEAD, end, ts)) {
      storage.back();
      break;
    }
    if (!isStamped && !separatesKeys && times.guessed(kind, epochOf(words, at), time)) guessed++;
  }
  if (writer.points === 0) return undefined;
  const body = writer.body();
  const { points, keys, fromKey, toKey } = writer;
  return { points, number: outbox.first, body, guessed, keys, fromKey, toKey };
};
