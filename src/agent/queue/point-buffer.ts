import { POINT_HEAD, padded, putHead, type Records, sizeOf } from "./record.js";

/**
 * The latest points in RAM, first in, first out: all that are not on flash, and some that are,
 * which saves reading them. Removing points moves the others to the front, natively.
 */
export class PointBuffer {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** Number of the first point. */
  first = 0;
  /** Number of points. */
  count = 0;
  /** Bytes in use. */
  used = 0;
  /** Offset of the first point that is not on flash. */
  pendingAt = 0;
  /** Where `step` continues. */
  private _at = 0;
  private readonly _capacity: number;

  /** Points use the first `capacity` bytes of `bytes`. */
  constructor({ bytes, words }: Records, capacity: number) {
    this.bytes = bytes;
    this.words = words;
    this._capacity = capacity & ~3;
  }

  /** The number of the next point. */
  get next(): number {
    return this.first + this.count;
  }

  /** Bytes of points that are not on flash. */
  get pending(): number {
    return this.used - this.pendingAt;
  }

  /** Fill level, 0 to 1. */
  get fill(): number {
    return this.used / this._capacity;
  }

  /**
   * True if `size` bytes fit, after removing as many points that are also on flash as necessary.
   */
  makeRoom(size: number): boolean {
    const excess = this.used + size - this._capacity;
    if (excess <= 0) return true;
    if (excess > this.pendingAt) return false;
    let points = 0;
    let at = 0;
    for (; at < excess; points++) at += sizeOf(this.words, at);
    this.remove(points);
    return true;
  }

  /** Appends a point, after `makeRoom`. Returns its offset. */
  push(kind: number, epoch: number, value: number, text: Uint8Array): number {
    const at = this.used;
    const length = POINT_HEAD + text.length;
    const end = at + padded(length);
    this.words[(end >> 2) - 1] = 0;
    putHead(this.words, at, kind, length, value, epoch);
    this.bytes.set(text, at + POINT_HEAD);
    this.used = end;
    this.count++;
    return at;
  }

  /** Removes the first `points`. */
  remove(points: number): void {
    let at = 0;
    if (points >= this.count) at = this.used;
    else for (let i = 0; i < points; i++) at += sizeOf(this.words, at);
    if (at < this.used) this.bytes.copyWithin(0, at, this.used);
    this.used -= at;
    this.pendingAt = Math.max(0, this.pendingAt - at);
    this.first += Math.min(points, this.count);
    this.count = Math.max(0, this.count - points);
  }

  /** Makes the next `step` return point `number`. */
  seek(number: number): void {
    let at = 0;
    for (let i = this.first; i < number; i++) at += sizeOf(this.words, at);
    this._at = at;
  }

  /** Offset of the next point; -1 after the last. */
  step(): number {
    const at = this._at;
    if (at >= this.used) return -1;
    this._at += sizeOf(this.words, at);
    return at;
  }
}
