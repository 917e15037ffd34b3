import { LENGTH_AT, lengthOf } from "./record.js";

/** Records in a fixed piece of RAM, first in, first out. Each lies in one piece; one that does not fit behind the last begins at 0 again. */
export class Ring {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** How many records there are. */
  count = 0;
  /** The number of the first record; it counts up as records go. */
  first = 0;
  /** The record that `step` came to. */
  at = 0;
  end = 0;
  readonly #capacity: number;
  #head = 0;
  #tail = 0;
  /** Where the records end that lie above the tail; -1 as long as none do. */
  #wrap = -1;
  #cursor = 0;
  #left = 0;

  /** The records lie in the first `capacity` of the bytes. */
  constructor(bytes: Uint8Array, capacity: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset);
    this.#capacity = capacity;
  }

  /** The number that the next record gets. */
  get next(): number {
    return this.first + this.count;
  }

  /** Bytes from the first record to the last, with the gap between them. */
  get used(): number {
    return this.#wrap < 0 ? this.#tail - this.#head : this.#wrap - this.#head + this.#tail;
  }

  /** Where a record of `length` bytes is to be written, or -1 if there is no room. `commit` makes it part of the ring. */
  reserve(length: number): number {
    if (this.count === 0) this.clear();
    if (this.#wrap >= 0) return this.#tail + length <= this.#head ? this.#tail : -1;
    if (this.#tail + length <= this.#capacity) return this.#tail;
    if (length > this.#head) return -1;
    this.#wrap = this.#tail;
    this.#tail = 0;
    return 0;
  }

  commit(length: number): void {
    this.#tail += length;
    this.count++;
  }

  /** Forgets the first record. */
  shift(): void {
    if (this.count === 0) return;
    this.#head += lengthOf(this.bytes, this.#head);
    this.first++;
    this.count--;
    if (this.#head === this.#wrap) {
      this.#head = 0;
      this.#wrap = -1;
    }
  }

  /** Forgets all records. */
  clear(): void {
    this.first += this.count;
    this.count = 0;
    this.#head = 0;
    this.#tail = 0;
    this.#wrap = -1;
  }

  /** The next `step` comes to the first record. */
  rewind(): void {
    this.#cursor = this.#head;
    this.#left = this.count;
  }

  /** Goes to the next record: `at` to `end` in `bytes`. False behind the last. */
  step(): boolean {
    if (this.#left === 0) return false;
    this.#left--;
    if (this.#cursor === this.#wrap) this.#cursor = 0;
    const at = this.#cursor;
    this.at = at;
    this.end = this.#cursor = at + this.view.getUint16(at + LENGTH_AT, true);
    return true;
  }
}
