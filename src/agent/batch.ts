import { LISTED_BYTES, TIMED_BYTES, writeAfter, writeBefore } from "../wire/telemetry.js";
import type { Outbox } from "./outbox.js";
import { countMembers, KeySet, memberAt } from "./point-keys.js";
import { eraOf, GIVEN, kindOf, POINT_HEAD, timeOf } from "./record.js";
import type { Time } from "./time.js";

/** What one POST brings to the platform: the first points waiting, or some keys of the first. */
export interface Batch {
  readonly points: number;
  /** The number of the first point in it. */
  readonly number: number;
  /** The body; valid until the next batch is built. */
  readonly body: Uint8Array;
  /** Points whose time stamp is a guess. */
  readonly guessed: number;
  /** The first point's keys, and which of them are in the batch: all, if there are more points. */
  readonly keys: number;
  readonly fromKey: number;
  readonly toKey: number;
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const CLOSE_BRACKET = 0x5d;

/** Writes the body of a batch point by point. */
export class BatchWriter {
  points = 0;
  /** Bytes of the body so far. */
  length = 0;
  keys = 0;
  fromKey = 0;
  toKey = 0;
  readonly #bytes: Uint8Array;
  readonly apart: boolean;
  readonly #keys: KeySet | undefined;
  /** The first point has too many keys to be compared with others. */
  #alone = false;

  /** `apart`: untimed points that share a key are kept apart, since all of a batch get one time stamp. */
  constructor(limit: number, apart: boolean) {
    this.#bytes = new Uint8Array(limit);
    this.apart = apart;
    this.#keys = apart ? new KeySet() : undefined;
  }

  begin(): void {
    this.points = 0;
    this.fromKey = 0;
    this.length = 0;
    this.#keys?.clear();
    this.#alone = false;
  }

  /** Adds the point whose text is `from` to `to`; false if it does not go with those before. */
  add(bytes: Uint8Array, from: number, to: number, ts: number | undefined): boolean {
    const more = to - from + (ts === undefined ? 0 : TIMED_BYTES) + LISTED_BYTES;
    if (this.length + more > this.#bytes.length) return false;
    if (ts === undefined && !this.#joins(bytes, from, to)) return false;
    if (this.points === 0) this.toKey = this.keys = countMembers(bytes, from, to);
    const text = writeBefore(this.#bytes, this.length, this.points, 2, ts);
    this.#bytes.set(bytes.subarray(from, to), text);
    this.length = writeAfter(this.#bytes, text + to - from, 0, 2, ts !== undefined);
    this.points++;
    return true;
  }

  /** The first point again, but only `most` of its keys, from `fromKey` on. */
  cut(
    bytes: Uint8Array,
    from: number,
    to: number,
    ts: number | undefined,
    fromKey: number,
    most: number,
  ): void {
    this.begin();
    this.keys = countMembers(bytes, from, to);
    this.fromKey = fromKey < this.keys ? fromKey : 0;
    this.toKey = Math.min(this.keys, this.fromKey + most);
    const begin = memberAt(bytes, from, to, this.fromKey);
    const end = memberAt(bytes, from, to, this.toKey) - 1;
    const text = writeBefore(this.#bytes, 0, 0, 2, ts);
    this.#bytes[text] = OPEN_BRACE;
    this.#bytes.set(bytes.subarray(begin, end), text + 1);
    this.#bytes[text + 1 + end - begin] = CLOSE_BRACE;
    this.length = writeAfter(this.#bytes, text + 2 + end - begin, 0, 2, ts !== undefined);
    this.points = 1;
  }

  /** The body: an object for one point, an array for more. */
  body(): Uint8Array {
    if (this.points === 1) return this.#bytes.subarray(1, this.length);
    this.#bytes[this.length] = CLOSE_BRACKET;
    return this.#bytes.subarray(0, this.length + 1);
  }

  /** Whether a point without a time stamp goes with those before. */
  #joins(bytes: Uint8Array, from: number, to: number): boolean {
    if (!this.#keys) return true;
    if (this.#alone) return false;
    this.#alone = !this.#keys.add(bytes, from, to);
    return !this.#alone || this.points === 0;
  }
}

/**
 * Builds the body of the next request: `mostPoints` of the points waiting at most; if that is one, `mostKeys` of its keys from `fromKey` on.
 * Undefined if nothing waits, or the time stamp of the first point is not known yet.
 */
export function buildBatch(
  outbox: Outbox,
  time: Time,
  writer: BatchWriter,
  part: { readonly points: number; readonly keys: number; readonly fromKey: number },
): Batch | undefined {
  const timed = !writer.apart;
  let guessed = 0;
  writer.begin();
  outbox.rewind();
  while (writer.points < part.points && outbox.step()) {
    const { bytes, at, end } = outbox;
    const kind = kindOf(bytes, at);
    const era = eraOf(bytes, at);
    const moment = timeOf(bytes, at);
    const ts = timed || kind === GIVEN ? time.resolve(kind, era, moment) : undefined;
    if (timed && ts === undefined) break;
    if (part.points === 1) writer.cut(bytes, at + POINT_HEAD, end, ts, part.fromKey, part.keys);
    else if (!writer.add(bytes, at + POINT_HEAD, end, ts)) break;
    if (timed && time.guessed(kind, era, moment)) guessed++;
  }
  if (writer.points === 0) return undefined;
  const { points, keys, fromKey, toKey } = writer;
  return { points, number: outbox.first, body: writer.body(), guessed, keys, fromKey, toKey };
}
