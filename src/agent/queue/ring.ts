import { invariant } from "../../invariant.js";
import { lengthOf, POINT_HEAD, padded, type Records, TWO_32 } from "./record.js";

/**
 * Records in a fixed buffer in RAM, first in, first out. A record is never split: one that does not
 * fit at the end starts at offset 0. Records that are also on flash save reads and make room when
 * needed.
 */
export class Ring implements Records {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The current record, from `at` to `end`, as set by `step`. */
  at = 0;
  end = 0;
  /** Number of records. */
  count = 0;
  /** The number of the first record. It increases as records are removed. */
  first = 0;
  /** Number of records, from the first on, that are also on flash. */
  onFlash = 0;
  private readonly _capacity: number;
  private _head = 0;
  private _tail = 0;
  /** End of the records above the tail; -1 if there are none. */
  private _wrap = -1;
  /** Offset of the first record that is not on flash, if there is one. */
  private _pendingAt = 0;
  private _cursor = 0;
  /** Number of the record at the cursor. */
  private _number = 0;

  /** Records use the first `capacity` bytes of `bytes`. */
  constructor(bytes: Uint8Array, capacity: number) {
    this.bytes = bytes;
    this._capacity = capacity & ~3;
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset, capacity >> 2);
  }

  /** Numbers the records from `number` on. Call before the first record. */
  startAt(number: number): void {
    this.first = number;
  }

  /** The number of the next record. */
  get next(): number {
    return this.first + this.count;
  }

  /** Bytes from the first record to the last, including the gap at the end of the buffer. */
  get used(): number {
    return this._bytesFrom(this._head);
  }

  /** The same, from the first record that is not on flash. */
  get pending(): number {
    return this.onFlash === 0
      ? this._bytesFrom(this._head)
      : this.onFlash === this.count
        ? 0
        : this._bytesFrom(this._pendingAt);
  }

  /**
   * Offset for a record of `size` bytes (padded), before `put`; -1 if there is no room. Removes
   * records that are also on flash if needed.
   */
  reserve(size: number): number {
    const tail = this._tail;
    if (this.count > 0 && this._wrap < 0 && tail + size <= this._capacity) return tail;
    let at = this._free(size);
    for (; at < 0 && this.onFlash > 0; at = this._free(size)) this.shift();
    return at;
  }

  /** Writes the record of a point, `length` bytes, except its checksum. */
  put(at: number, kind: number, epoch: number, time: number, text: Uint8Array, length: number): void {
    const { words } = this;
    const word = at >> 2;
    const size = padded(length);
    words[((at + size) >> 2) - 1] = 0;
    words[word + 1] = length | (kind << 16);
    words[word + 2] = time;
    words[word + 3] = (time / TWO_32) | (epoch << 16);
    this.bytes.set(text, at + POINT_HEAD);
    this._tail = at + size;
    this.count++;
    invariant(
      "points take no more memory than their budget",
      () => at + size <= this._capacity && this.used <= this._capacity,
    );
  }

  /** Removes the first record. */
  shift(): void {
    if (this.count === 0) return;
    this._head += padded(lengthOf(this.words, this._head));
    this._removed(1);
    if (this._head === this._wrap) {
      this._head = 0;
      this._wrap = -1;
    }
  }

  /** Removes the records below `number`. Returns how many of them were not on flash. */
  forget(number: number): number {
    const points = Math.min(number - this.first, this.count);
    if (points <= 0) return 0;
    const notOnFlash = Math.max(0, points - this.onFlash);
    if (number === this._number) {
      const cursor = this._cursor;
      // The cursor has passed the last record above the tail.
      const round = this._wrap >= 0 && (cursor <= this._head || cursor === this._wrap);
      this._head = cursor === this._wrap ? 0 : cursor;
      if (round) this._wrap = -1;
      this._removed(points);
    } else for (let i = 0; i < points; i++) this.shift();
    return notOnFlash;
  }

  /** Removes all records. */
  clear(): void {
    this.first += this.count;
    this.count = 0;
    this.onFlash = 0;
    this._head = 0;
    this._tail = 0;
    this._wrap = -1;
  }

  /** Goes back, so that the next `step` reaches the first record. */
  rewind(): void {
    this._cursor = this._head;
    this._number = this.first;
  }

  /** Makes the next `step` reach the first record that is not on flash. */
  seek(): void {
    if (this.onFlash === 0) this.rewind();
    else {
      this._cursor = this._pendingAt;
      this._number = this.first + this.onFlash;
    }
  }

  /** Notes that the next `points` records, up to offset `end`, are on flash now. */
  markOnFlash(points: number, end: number): void {
    this.onFlash += points;
    this._pendingAt = end;
  }

  /** Goes to the next record, `at` to `end` in `bytes`. False after the last. */
  step(): boolean {
    if (this._number >= this.first + this.count) return false;
    this._number++;
    let at = this._cursor;
    if (at === this._wrap) at = 0;
    this.at = at;
    const end = at + ((this.words[(at >> 2) + 1] as number) & 0xffff);
    this.end = end;
    this._cursor = (end + 3) & ~3;
    return true;
  }

  /** Goes back to before the current record. */
  back(): void {
    this._number--;
    this._cursor = this.at;
  }

  private _removed(points: number): void {
    this.first += points;
    this.count -= points;
    this.onFlash = Math.max(0, this.onFlash - points);
  }

  private _bytesFrom(head: number): number {
    return this._wrap < 0 || head < this._tail ? this._tail - head : this._wrap - head + this._tail;
  }

  private _free(size: number): number {
    if (this.count === 0) this.clear();
    const tail = this._tail;
    if (this._wrap >= 0) return tail + size <= this._head ? tail : -1;
    if (tail + size <= this._capacity) return tail;
    if (size > this._head) return -1;
    this._wrap = tail;
    return 0;
  }
}
