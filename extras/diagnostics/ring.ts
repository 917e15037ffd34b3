// The last lines in the machine's memory. A restart or crash may interrupt a write at any byte.
//
//    two heads of 16 bytes, written in turn; then the lines, as a ring
//    head:  u16 magic, u16 format, u32 turn, u16 start, u16 used, u32 checksum of the head
//    line:  u16 length of the line, u16 checksum of the rest, u8 level,
//           u32 tenths of a second since the start of its run, UTF-8
//
// A line leaves the head before its bytes are overwritten, and enters it after its own are written.
// So each intact head refers only to intact lines. Without one, as after power-on, the ring is
// empty.
import { hash32 } from "../../src/board-module.js";
import type { LogMemory } from "./types.js";

const MAGIC = 0x4c4d;
const FORMAT = 2;
const HEAD = 16;
const HEADS = 2 * HEAD;
const LINE = 9;
/** Maximum size of a line's text in bytes. */
export const LONGEST = 240;
const LEAST_SIZE = HEADS + 2 * (LINE + LONGEST);

/** A stored line. */
export interface KeptLine {
  /** 0 is the lowest. */
  readonly level: number;
  /** Time since the start of its run, in tenths of a second. */
  readonly tenths: number;
  readonly text: Uint8Array;
}

export class Ring {
  private readonly _memory: LogMemory;
  private readonly _room: number;
  private _turn = 0;
  private _start = 0;
  private _used = 0;
  /** Lines have left since the last written head, which still refers to them. */
  private _isStale = false;

  /** Continues where the last run ended. Stores nothing if the memory is too small or fails. */
  constructor(memory: LogMemory) {
    this._memory = memory;
    this._room = memory.size < LEAST_SIZE ? 0 : Math.min(memory.size, 0xffff) - HEADS;
    const one = this._head(0);
    const other = this._head(HEAD);
    const head = one && other && isLater(other, one) ? other : (one ?? other);
    if (!head) return;
    this._turn = head.getUint32(4, true);
    this._start = head.getUint16(8, true);
    this._used = head.getUint16(10, true);
    // Repair it now, because otherwise lines of this run would be lost with the damaged ones.
    this.read(() => {});
  }

  /** Stores `text`, at most LONGEST bytes. False if that failed. */
  append(level: number, tenths: number, text: Uint8Array): boolean {
    const length = LINE + text.length;
    if (text.length > LONGEST || length > this._room) return false;
    while (this._room - this._used < length) {
      const oldest = this._length(this._start);
      if (oldest === undefined) this._empty();
      else {
        this._start = (this._start + oldest) % this._room;
        this._used -= oldest;
        this._isStale = true;
      }
    }
    if (this._isStale && !this._writeHead()) return false;
    const bytes = new Uint8Array(length);
    const view = new DataView(bytes.buffer);
    view.setUint16(0, length, true);
    view.setUint8(4, level);
    view.setUint32(5, tenths >>> 0, true);
    bytes.set(text, LINE);
    view.setUint16(2, hash32(bytes, 4) & 0xffff, true);
    if (!this._write((this._start + this._used) % this._room, bytes)) return false;
    this._used += length;
    return this._writeHead();
  }

  /** Passes all lines to `see`, oldest first. Damaged lines empty the ring. */
  read(see: (line: KeptLine) => void): void {
    let at = this._start;
    for (let left = this._used; left > 0; ) {
      const length = this._length(at) ?? 0;
      const bytes = new Uint8Array(length);
      const view = new DataView(bytes.buffer);
      if (length > 0 && !this._read(at, bytes)) return;
      if (length === 0 || length > left || view.getUint16(2, true) !== (hash32(bytes, 4) & 0xffff)) {
        this._empty();
        return;
      }
      see({ level: view.getUint8(4), tenths: view.getUint32(5, true), text: bytes.subarray(LINE) });
      at = (at + length) % this._room;
      left -= length;
    }
  }

  /** Empties the ring and overwrites all lines. False if that failed. */
  forget(): boolean {
    this._empty();
    if (this._room === 0) return true;
    // Write both heads, because the other one still refers to the lines.
    let done = this._writeHead() && this._writeHead();
    const zeros = new Uint8Array(LONGEST);
    for (let at = 0; done && at < this._room; at += LONGEST)
      done = this._memory.write(HEADS + at, zeros.subarray(0, Math.min(LONGEST, this._room - at)));
    return done;
  }

  private _writeHead(): boolean {
    const bytes = new Uint8Array(HEAD);
    const view = new DataView(bytes.buffer);
    const turn = (this._turn + 1) >>> 0;
    view.setUint16(0, MAGIC, true);
    view.setUint16(2, FORMAT, true);
    view.setUint32(4, turn, true);
    view.setUint16(8, this._start, true);
    view.setUint16(10, this._used, true);
    view.setUint32(12, hash32(bytes, 0, 12), true);
    // The next write replaces an interrupted one; the other head is intact.
    if (!this._memory.write((turn % 2) * HEAD, bytes)) return false;
    this._turn = turn;
    this._isStale = false;
    return true;
  }

  private _empty(): void {
    this._start = 0;
    this._used = 0;
    this._isStale = true;
  }

  private _head(at: number): DataView | undefined {
    const bytes = new Uint8Array(HEAD);
    if (this._room === 0 || !this._memory.read(at, bytes)) return undefined;
    const view = new DataView(bytes.buffer);
    const isHead = view.getUint16(0, true) === MAGIC && view.getUint16(2, true) === FORMAT;
    const isWhole = isHead && view.getUint32(12, true) === hash32(bytes, 0, 12);
    const fits = view.getUint16(8, true) < this._room && view.getUint16(10, true) <= this._room;
    return isWhole && fits ? view : undefined;
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
