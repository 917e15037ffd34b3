import { lengthOf, POINT_HEAD, type Records, TWO_32, whole } from "./record.js";

/**
 * Records in a fixed piece of RAM, first in, first out. Each lies in one piece; one that does not fit behind the last begins at 0 again. The first
 * of them may be on flash as well: they are here so that they need not be read, and make room.
 */
export class Ring implements Records {
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The record that `step` came to. */
  at = 0;
  end = 0;
  /** How many records there are. */
  count = 0;
  /** The number of the first record; it counts up as records go. */
  first = 0;
  /** So many of them, from the first on, are on flash as well. */
  onFlash = 0;
  private readonly _capacity: number;
  private _head = 0;
  private _tail = 0;
  /** Where the records end that lie above the tail; -1 as long as none do. */
  private _wrap = -1;
  /** Where the first that is not on flash lies, if any are. */
  private _rest = 0;
  private _cursor = 0;
  /** Of the record at the cursor. */
  private _number = 0;

  /** The records lie in the first `capacity` of the bytes. */
  constructor(bytes: Uint8Array, capacity: number) {
    this.bytes = bytes;
    this._capacity = capacity & ~3;
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset, capacity >> 2);
  }

  /** The number that the next record gets. */
  get next(): number {
    return this.first + this.count;
  }

  /** Bytes from the first record to the last, with the gap between them. */
  get used(): number {
    return this._from(this._head);
  }

  /** The same from the first record that is not on flash. */
  get pending(): number {
    return this.onFlash === 0
      ? this._from(this._head)
      : this.onFlash === this.count
        ? 0
        : this._from(this._rest);
  }

  /** Where a record of `size` bytes, its last word filled, is to be written; -1 if there is no room: what is on flash as well makes its own. `put` follows. */
  reserve(size: number): number {
    const tail = this._tail;
    if (this.count > 0 && this._wrap < 0 && tail + size <= this._capacity) return tail;
    let at = this._free(size);
    for (; at < 0 && this.onFlash > 0; at = this._free(size)) this.shift();
    return at;
  }

  /** Writes all of a point's record, `length` bytes, but the checksum. */
  put(at: number, kind: number, epoch: number, time: number, text: Uint8Array, length: number): void {
    const { words } = this;
    const word = at >> 2;
    const size = whole(length);
    words[((at + size) >> 2) - 1] = 0;
    words[word + 1] = length | (kind << 16);
    words[word + 2] = time;
    words[word + 3] = (time / TWO_32) | (epoch << 16);
    this.bytes.set(text, at + POINT_HEAD);
    this._tail = at + size;
    this.count++;
  }

  /** Forgets the first record. */
  shift(): void {
    if (this.count === 0) return;
    this._head += whole(lengthOf(this.words, this._head));
    this._gone(1);
    if (this._head === this._wrap) {
      this._head = 0;
      this._wrap = -1;
    }
  }

  /** Forgets the records below `number`. Returns how many of them were not on flash. */
  forget(number: number): number {
    const points = Math.min(number - this.first, this.count);
    if (points <= 0) return 0;
    const alone = Math.max(0, points - this.onFlash);
    if (number === this._number) {
      const cursor = this._cursor;
      // Behind the last of those above the tail.
      const round = this._wrap >= 0 && (cursor <= this._head || cursor === this._wrap);
      this._head = cursor === this._wrap ? 0 : cursor;
      if (round) this._wrap = -1;
      this._gone(points);
    } else for (let i = 0; i < points; i++) this.shift();
    return alone;
  }

  /** Forgets all records. */
  clear(): void {
    this.first += this.count;
    this.count = 0;
    this.onFlash = 0;
    this._head = 0;
    this._tail = 0;
    this._wrap = -1;
  }

  /** The next `step` comes to the first record. */
  rewind(): void {
    this._cursor = this._head;
    this._number = this.first;
  }

  /** The next `step` comes to the first record that is not on flash. */
  seek(): void {
    if (this.onFlash === 0) this.rewind();
    else {
      this._cursor = this._rest;
      this._number = this.first + this.onFlash;
    }
  }

  /** The records from there on that end at `end` are on flash now. */
  keep(points: number, end: number): void {
    this.onFlash += points;
    this._rest = end;
  }

  /** Goes to the next record: `at` to `end` in `bytes`. False behind the last. */
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

  /** Goes back before the record that `step` came to. */
  back(): void {
    this._number--;
    this._cursor = this.at;
  }

  private _gone(points: number): void {
    this.first += points;
    this.count -= points;
    this.onFlash = Math.max(0, this.onFlash - points);
  }

  private _from(head: number): number {
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
