// The durable queue: a log of records over raw sectors.
//
// A sector is erased, gets a header with all that is known at that moment, then records until it is full; then comes the next one round. Points are records;
// that points are delivered or dropped is a record too (a status entry). Every byte is written once between two erases. The sector behind the one being written
// is always free of waiting points (else the oldest go, or the new one is refused): so status entries find room, and no erase takes what is wanted.
import type { Blocks } from "../../../port.js";
import {
  DONE,
  FULL,
  isPoint,
  lengthOf,
  MAX_RECORD,
  REPORTED,
  type Records,
  seal,
  UNREADABLE,
} from "../log-entry.js";
import { SectorsHead } from "./head.js";
import { applyRecords, applyStatus, HEADER_BYTES, type SectorState } from "./sector-header.js";
import { SectorLog } from "./sectors.js";
import type { SectorsListener } from "./watcher.js";

export class Sectors implements Records {
  readonly state: SectorState;
  /** The point that `step` came to, in `bytes`. */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  at = 0;
  end = 0;
  /** For who looks after its failures. */
  readonly log: SectorLog;
  private readonly _dropOldest: boolean;
  private readonly _listener: SectorsListener;
  private readonly _head: SectorsHead;
  /** The sector behind this one holds nothing that waits, as long as this one is the newest. */
  private _freeBehind = -1;
  // Where `step` is.
  private _sequence = 1;
  private _cursor = HEADER_BYTES;
  private _number = 0;

  constructor(blocks: Blocks, dropOldest: boolean, listener: SectorsListener) {
    this.log = new SectorLog(blocks, listener);
    this.state = this.log.state;
    this._head = new SectorsHead(this.log.map, this.state);
    this.bytes = this.log.page.bytes;
    this.words = this.log.page.words;
    this._dropOldest = dropOldest;
    this._listener = listener;
    this._open();
  }

  /** False: nothing more is written. What waits may still be read. */
  get usable(): boolean {
    return this.log.usable;
  }

  /** Tries once more to write, or to read what could not be read at the start. `last`: the run ends. */
  retry(now: number, last: boolean): void {
    const { log } = this;
    if (log.unread) this._open();
    else log.retry(now, last);
    // Where nothing can be appended the next sector is opened at once, and takes what status entries could not say.
    if (log.room === 0) this.openNext();
  }

  /** `points` were dropped that never were on flash. The next header says so. */
  count(points: number, reason: "full" | "refused"): void {
    this.state[reason] += points;
    if (this.log.failing) this.log.unsaid = true;
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    return this.state.next - this.state.confirmed;
  }

  /** The part of the sectors that holds what waits. */
  get fill(): number {
    return this.waiting === 0 ? 0 : (this.state.sequence - this._head.sequence + 1) / this.log.map.count;
  }

  /** Longest record. */
  get most(): number {
    return Math.min(this.log.map.size - HEADER_BYTES, MAX_RECORD);
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this.log.room;
  }

  /** Makes room for a record of `length` bytes. False: full and the oldest points stay, or unusable. */
  place(length: number): boolean {
    const { map, tail } = this.log;
    if (this._freeBehind === this.state.sequence && length <= map.size - tail) return true;
    while (this.usable) {
      const free = this._head.frees(this.log.next);
      if (free) this._freeBehind = this.state.sequence;
      if (free && length <= this.room) return true;
      if (free) this.openNext();
      else if (this._dropOldest) this._dropBefore(FULL, this.log.next + 1 - this.log.map.count);
      else return false;
    }
    return false;
  }

  /** Appends the records from `from` to `to`, for which `place` and `room` have found room. False if they are not on flash. */
  append({ bytes, words }: Records, from: number, to: number): boolean {
    seal(words, from, to, this.state.sequence);
    if (!this.log.write(bytes.subarray(from, to))) return false;
    applyRecords(this.state, words, from, to);
    return true;
  }

  /** The next `step` comes to the first point waiting. What is damaged there is dropped, below `limit`: the others are in memory. What the host can't read too, if it `mayDrop`; false if there is any. */
  rewind(limit: number, mayDrop: boolean): boolean {
    const { state, log } = this;
    let isRead = true;
    while (state.confirmed < limit) {
      this._toHead();
      log.map.unread = false;
      while (this._number < state.confirmed && this.step());
      const beyond = this._number > state.confirmed;
      if (this._number === state.confirmed) {
        this._keepHead();
        if (this.step()) break;
      }
      isRead &&= !log.map.unread;
      if (log.map.unread && !mayDrop) break;
      this._dropBefore(UNREADABLE, beyond ? this._sequence : this._sequence + 1, limit);
    }
    this._toHead();
    return isRead;
  }

  /** Goes to the next point. False at the end, and before what can't be read. */
  step(): boolean {
    const log = this.log;
    while (this._number < this.state.next) {
      if (!log.load(this._sequence)) return false;
      const length = log.lengthAt(this._cursor, this._sequence);
      if (length === 0) {
        const next = this._head.behind(this._sequence);
        if (next === undefined || log.map.firstIn(next) !== this._number) return false;
        this._sequence = next;
        this._cursor = HEADER_BYTES;
        continue;
      }
      this.at = this._cursor;
      this._cursor += length;
      this.end = this.at + lengthOf(this.words, this.at);
      if (!isPoint(this.words, this.at)) continue;
      this._number++;
      return true;
    }
    return false;
  }

  /** Goes back before the point that `step` came to. */
  back(): void {
    this._cursor = this.at;
    this._number--;
  }

  /** All points below `number` are dealt with: `kind` is DONE or REFUSED. Returns how many were not before. */
  finish(kind: number, number: number): number {
    const points = applyStatus(this.state, kind, number);
    if (points === 0) return 0;
    if (this.waiting === 0) this._headToEnd();
    else if (this._number === this.state.confirmed) this._keepHead();
    else this._head.pass();
    this._status(kind, this.state.confirmed, points);
    return points;
  }

  /** `drops` in all were reported to the platform. */
  reported(drops: number): void {
    applyStatus(this.state, REPORTED, drops);
    this._status(REPORTED, drops, 0);
  }

  /** Forgets all points, and erases them; false if any sector could not be erased. */
  forget(): boolean {
    this.finish(DONE, this.state.next);
    const gone = this.log.erase();
    this._freeBehind = -1;
    this.state.reported = 0;
    this._headToEnd();
    return gone;
  }

  private _open(): void {
    const { state, log } = this;
    const oldest = log.open();
    if (oldest === undefined) return;
    // Before anything is counted.
    log.unsaid = this._listener.opened(state);
    this._head.sequence = oldest;
    if (this.waiting === 0) this._headToEnd();
    // A sector that was erased for room when the power failed, before the next header could say so.
    else this._dropBefore(this._dropOldest ? FULL : UNREADABLE, oldest);
    this.rewind(state.next, false);
  }

  private _toHead(): void {
    this._sequence = this._head.sequence;
    this._cursor = this._head.at;
    this._number = this._head.number;
  }

  private _keepHead(): void {
    this._head.set(this._sequence, this._cursor, this._number);
  }

  private _headToEnd(): void {
    this._head.set(this.state.sequence, this.log.tail, this.state.next);
  }

  /** Drops what waits before sector `from`, or before the next one whose header can be read; the head goes there. Nothing from `limit` on. */
  private _dropBefore(kind: typeof FULL | typeof UNREADABLE, from: number, limit = this.state.next): void {
    const { state, log } = this;
    let sequence = from;
    let first = log.map.firstIn(sequence);
    while (first === undefined && sequence < state.sequence) first = log.map.firstIn(++sequence);
    const points = applyStatus(state, kind, Math.min(limit, first ?? limit));
    if (first === undefined) this._headToEnd();
    else this._head.set(sequence, HEADER_BYTES, first);
    if (points === 0) return;
    this._status(kind, state.confirmed, points);
    this._listener.dropped(points, kind === FULL ? "full" : "unreadable");
  }

  /** Opens the next sector, if it is free: its header says what no record does. */
  openNext(): void {
    const { log } = this;
    const isOpen = log.usable && this._head.frees(log.next) && log.openNext();
    if (isOpen && this.waiting === 0) this._headToEnd();
  }

  private _status(kind: number, number: number, points: number): void {
    const log = this.log;
    if (log.usable && log.writeStatus(kind, number)) return;
    log.unwritten.add(kind, points);
    // The next header says it. It can only come later if a power loss closed the sector that was free.
    this.openNext();
    if (log.failing) log.unsaid = true;
  }
}
