// The last lines in the machine's memory. A restart or crash may interrupt a write at any byte.
//
//    two heads of 32 bytes, written in turn; then the lines, as a ring
//    head:  u16 magic, u8 format, u8 level, u32 turn, u32 id, u32 first, u32 next, u16 start,
//           u16 used, u8 minutes, u8 seen, 2 bytes, u32 checksum of the head
//    line:  u16 length of the line, u16 checksum of the rest, u8 level,
//           u32 tenths of a second since the start of its run, UTF-8
//
// A line leaves the head before its bytes are overwritten, and enters it after its own are written.
// So each intact head refers only to intact lines. Without one, as after power-on, the ring is
// empty.
import type { Host } from "../../src/port.js";
import { hash32 } from "../../src/wire/crypto/hash32.js";
import type { LogMemory } from "./types.js";

const MAGIC = 0x4c4d;
const FORMAT = 1;
const HEAD = 32;
const HEADS = 2 * HEAD;
const LINE = 9;
/** Maximum size of a line's text in bytes. */
export const LONGEST = 240;
const LEAST_SIZE = HEADS + 2 * (LINE + LONGEST);

/** A stored line. */
export interface KeptLine {
  /** Counts from 1. */
  readonly number: number;
  /** 0 is the lowest. */
  readonly level: number;
  /** Time since the start of its run, in tenths of a second. */
  readonly tenths: number;
  readonly text: Uint8Array;
}

export class Ring {
  private readonly _memory: LogMemory;
  private readonly _random: Host["random"];
  private readonly _room: number;
  private _turn = 0;
  /** `first` of the last written head. */
  private _vouched = 1;
  private _start = 0;
  private _used = 0;
  /** Id of this ring, which changes after a power-on. */
  id = 0;
  /** Numbers of the oldest stored line and of the next one. */
  first = 1;
  next = 1;
  // Values of the ring's owner, stored with each head. `request` and `markSeen` change them.
  /** The requested level, from 1; 0: none. */
  level = 0;
  /** Remaining minutes of that level. */
  minutes = 0;
  /** The last request. */
  seen = 0;

  /** Continues where the last run ended. Stores nothing if the memory is too small or fails. */
  constructor(memory: LogMemory, random: Host["random"]) {
    this._memory = memory;
    this._random = random;
    this._room = memory.size < LEAST_SIZE ? 0 : Math.min(memory.size, 0xffff) - HEADS;
    const heads = [this._head(0), this._head(HEAD)].filter((head) => head !== undefined);
    const [one, other] = heads;
    const head = one && other && isLater(other, one) ? other : one;
    if (!head) {
      this._begin();
      return;
    }
    this._take(head);
    // Repair it now, because otherwise lines of this run would be lost with the damaged ones.
    this.read(this.first, () => true);
  }

  /** Stores `text`, at most LONGEST bytes. False if that failed. */
  append(level: number, tenths: number, text: Uint8Array): boolean {
    const length = LINE + text.length;
    if (text.length > LONGEST || length > this._room) return false;
    while (this._room - this._used < length) {
      const oldest = this._length(this._start);
      // The owner's values survive.
      if (oldest === undefined) this._begin();
      else {
        this._start = (this._start + oldest) % this._room;
        this._used -= oldest;
        this.first++;
      }
    }
    if (this.first !== this._vouched && !this._writeHead()) return false;
    const bytes = new Uint8Array(length);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, length, true);
    view.setUint8(4, level);
    view.setUint32(5, tenths >>> 0, true);
    bytes.set(text, LINE);
    view.setUint16(2, hash32(bytes, 4) & 0xffff, true);
    if (!this._write((this._start + this._used) % this._room, bytes)) return false;
    this._used += length;
    this.next++;
    return this._writeHead();
  }

  /**
   * Passes the lines from number `from` on to `see`, oldest first, until it returns false. Damaged
   * lines empty the ring.
   */
  read(from: number, see: (line: KeptLine) => boolean): void {
    let at = this._start;
    for (let number = this.first; number < this.next; number++) {
      const bytes = new Uint8Array(this._length(at) ?? 0);
      if (bytes.length === 0) {
        this._begin();
        return;
      }
      if (number >= from) {
        if (!this._read(at, bytes)) return;
        const view = new DataView(bytes.buffer);
        if (view.getUint16(2, true) !== (hash32(bytes, 4) & 0xffff)) {
          this._begin();
          return;
        }
        const line = {
          number,
          level: view.getUint8(4),
          tenths: view.getUint32(5, true),
          text: bytes.subarray(LINE),
        };
        if (!see(line)) return;
      }
      at = (at + bytes.length) % this._room;
    }
  }

  /** Empties the ring, with a new id, and overwrites all lines. False if that failed. */
  forget(): boolean {
    this._begin();
    if (this._room === 0) return true;
    // Write both heads, because the other one still refers to the lines.
    let done = this._writeHead() && this._writeHead();
    const zeros = new Uint8Array(LONGEST);
    for (let at = 0; done && at < this._room; at += LONGEST)
      done = this._memory.write(HEADS + at, zeros.subarray(0, Math.min(LONGEST, this._room - at)));
    return done;
  }

  /** Stores the level that was requested, and for how many minutes. */
  request(level: number, minutes: number): void {
    this.level = level;
    this.minutes = minutes;
    this._writeHead();
  }

  /** Notes the last request; the next head stores it. */
  markSeen(request: number): void {
    this.seen = request;
  }

  /** Writes a head with the current values. */
  private _writeHead(): boolean {
    const bytes = new Uint8Array(HEAD);
    const view = new DataView(bytes.buffer);
    const turn = (this._turn + 1) >>> 0;
    view.setUint16(0, MAGIC, true);
    view.setUint8(2, FORMAT);
    view.setUint8(3, this.level);
    view.setUint32(4, turn, true);
    view.setUint32(8, this.id, true);
    view.setUint32(12, this.first, true);
    view.setUint32(16, this.next, true);
    view.setUint16(20, this._start, true);
    view.setUint16(22, this._used, true);
    view.setUint8(24, this.minutes);
    view.setUint8(25, this.seen);
    view.setUint32(28, hash32(bytes, 0, 28), true);
    // The next write replaces an interrupted one; the other head is intact.
    if (this._room === 0 || !this._memory.write((turn % 2) * HEAD, bytes)) return false;
    this._turn = turn;
    this._vouched = this.first;
    return true;
  }

  private _begin(): void {
    const bytes = new Uint8Array(4);
    this._random(bytes);
    this.id = new DataView(bytes.buffer).getUint32(0, true);
    this.first = this.next;
    this._start = 0;
    this._used = 0;
  }

  private _head(at: number): DataView | undefined {
    const bytes = new Uint8Array(HEAD);
    if (this._room === 0 || !this._memory.read(at, bytes)) return undefined;
    const view = new DataView(bytes.buffer);
    const isHead = view.getUint16(0, true) === MAGIC && view.getUint8(2) === FORMAT;
    const isWhole = isHead && view.getUint32(28, true) === hash32(bytes, 0, 28);
    const fits = view.getUint16(20, true) < this._room && view.getUint16(22, true) <= this._room;
    return isWhole && fits ? view : undefined;
  }

  private _take(view: DataView): void {
    this.level = view.getUint8(3);
    this._turn = view.getUint32(4, true);
    this.id = view.getUint32(8, true);
    this.first = view.getUint32(12, true);
    this._vouched = this.first;
    this.next = view.getUint32(16, true);
    this._start = view.getUint16(20, true);
    this._used = view.getUint16(22, true);
    this.minutes = view.getUint8(24);
    this.seen = view.getUint8(25);
  }

  /** Length of the line at `at`; undefined if invalid. */
  private _length(at: number): number | undefined {
    const bytes = new Uint8Array(2);
    if (!this._read(at, bytes)) return undefined;
    const length = bytes[0]! + bytes[1]! * 256;
    return length >= LINE && length <= this._used ? length : undefined;
  }

  /** Wraps a position at the end. */
  private _read(at: number, into: Uint8Array): boolean {
    const behind = Math.min(into.length, this._room - at);
    if (!this._memory.read(HEADS + at, into.subarray(0, behind))) return false;
    return behind === into.length || this._memory.read(HEADS, into.subarray(behind));
  }

  private _write(at: number, bytes: Uint8Array): boolean {
    const behind = Math.min(bytes.length, this._room - at);
    if (!this._memory.write(HEADS + at, bytes.subarray(0, behind))) return false;
    return behind === bytes.length || this._memory.write(HEADS, bytes.subarray(behind));
  }
}

/** Memory in RAM, for hosts without memory that survives a restart. */
export const ramOf = (size: number): LogMemory => {
  const bytes = new Uint8Array(size);
  return {
    size,
    read: (at, into) => {
      into.set(bytes.subarray(at, at + into.length));
      return true;
    },
    write: (at, piece) => {
      bytes.set(piece, at);
      return true;
    },
  };
};

/** True if the head `one` was written after `other`. The counter of turns may have wrapped. */
const isLater = (one: DataView, other: DataView): boolean =>
  ((one.getUint32(4, true) - other.getUint32(4, true)) | 0) > 0;
