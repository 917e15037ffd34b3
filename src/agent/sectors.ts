// The durable queue: a log of records over raw sectors.
//
// A sector is erased, gets a header with all that is known at that moment, then records until it is full; then comes the next one round.
// Points are records; that points are delivered or dropped is a record too (a mark). Every byte is written once between two erases.
// The sector behind the one being written is always free of waiting points (else the oldest ones are dropped, or the new one is
// refused): so marks always find room, and a sector is only ever erased when nothing in it is wanted any more.
import type { Blocks } from "../port.js";
import { DONE, FULL, isPoint, lengthOf, MAX_RECORD, type Records, seal, TOLD, UNREADABLE } from "./record.js";
import { applyMark, applyRecords, HEADER_BYTES, type SectorState } from "./sectors-header.js";
import { SectorLog } from "./sectors-log.js";

/** Who is told what the sectors can't do. */
export interface SectorsOwner {
  /** A line for people: the sectors can't be used. */
  tell(line: string): void;
  /** Points went for want of room, or because they can't be read. */
  dropped(points: number, reason: "full" | "unreadable"): void;
}

export class Sectors implements Records {
  readonly state: SectorState;
  /** The point that `step` came to, in `bytes`. */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  at = 0;
  end = 0;
  readonly #log: SectorLog;
  readonly #dropOldest: boolean;
  readonly #owner: SectorsOwner;
  // The first point that waits lies here or behind: sector, position, number.
  #headSequence = 1;
  #headAt = HEADER_BYTES;
  #headNumber = 0;
  /** The sector behind this one holds nothing that waits, as long as this one is the newest. */
  #freeBehind = -1;
  // Where `step` is.
  #sequence = 1;
  #cursor = HEADER_BYTES;
  #number = 0;

  constructor(blocks: Blocks, dropOldest: boolean, owner: SectorsOwner) {
    this.#log = new SectorLog(blocks, (line) => owner.tell(line));
    this.state = this.#log.state;
    this.bytes = this.#log.page.bytes;
    this.words = this.#log.page.words;
    this.#dropOldest = dropOldest;
    this.#owner = owner;
    const oldest = this.#log.open();
    if (oldest !== undefined) this.#start(oldest);
  }

  /** False: nothing more is written. What waits may still be read. */
  get usable(): boolean {
    return this.#log.usable;
  }

  /** Whether points can go to flash at `now`: after a failure it is tried again now and then. */
  ready(now: number): boolean {
    this.#log.retry(now);
    return this.usable;
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    return this.state.next - this.state.confirmed;
  }

  /** The part of the sectors that holds what waits. */
  get fill(): number {
    return this.waiting === 0 ? 0 : (this.state.sequence - this.#headSequence + 1) / this.#log.map.count;
  }

  /** Longest record. */
  get most(): number {
    return Math.min(this.#log.map.size - HEADER_BYTES, MAX_RECORD);
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this.#log.room;
  }

  /** Makes room for a record of `length` bytes. False: full and the oldest points stay, or unusable. */
  place(length: number): boolean {
    const { map, tail } = this.#log;
    if (this.#freeBehind === this.state.sequence && length <= map.size - tail) return true;
    while (this.usable) {
      const free = this.#nextIsFree();
      if (free) this.#freeBehind = this.state.sequence;
      if (free && length <= this.room) return true;
      if (free) this.#openNext();
      else if (this.#dropOldest) this.#dropBefore(FULL, this.state.sequence + 2 - this.#log.map.count);
      else return false;
    }
    return false;
  }

  /** Appends the records from `from` to `to`, for which `place` and `room` have found room. False if they are not on flash. */
  append({ bytes, words }: Records, from: number, to: number): boolean {
    const { state } = this;
    seal(words, from, to, state.sequence);
    if (!this.#log.write(bytes.subarray(from, to))) return false;
    applyRecords(state, words, from, to);
    return true;
  }

  /** The next `step` comes to the first point waiting. What can't be read there is dropped, of those below `limit`: the others are in memory. */
  rewind(limit = this.state.next): void {
    const { state } = this;
    while (state.confirmed < limit) {
      this.#toHead();
      while (this.#number < state.confirmed && this.step());
      const beyond = this.#number > state.confirmed;
      if (this.#number === state.confirmed) {
        this.#keepHead();
        if (this.step()) break;
      }
      this.#dropBefore(UNREADABLE, beyond ? this.#sequence : this.#sequence + 1, limit);
    }
    this.#toHead();
  }

  /** Goes to the next point. False at the end, and before what can't be read. */
  step(): boolean {
    const log = this.#log;
    while (this.#number < this.state.next) {
      if (!log.load(this.#sequence)) return false;
      const length = log.lengthAt(this.#cursor, this.#sequence);
      if (length === 0) {
        if (log.map.firstIn(this.#sequence + 1) !== this.#number) return false;
        this.#sequence++;
        this.#cursor = HEADER_BYTES;
        continue;
      }
      this.at = this.#cursor;
      this.#cursor += length;
      this.end = this.at + lengthOf(this.words, this.at);
      if (!isPoint(this.words, this.at)) continue;
      this.#number++;
      return true;
    }
    return false;
  }

  /** Goes back before the point that `step` came to. */
  back(): void {
    this.#cursor = this.at;
    this.#number--;
  }

  /** All points below `number` are dealt with: `kind` is DONE or REFUSED. Returns how many were not before. */
  settle(kind: number, number: number): number {
    const points = applyMark(this.state, kind, number);
    if (points === 0) return 0;
    if (this.waiting === 0) this.#headToEnd();
    else if (this.#number === this.state.confirmed) this.#keepHead();
    else this.#passSectors();
    this.#mark(kind, this.state.confirmed);
    return points;
  }

  /** The platform was told of `drops` in all. */
  told(drops: number): void {
    applyMark(this.state, TOLD, drops);
    this.#mark(TOLD, drops);
  }

  /** Forgets all points, and erases them; false if any sector could not be erased. */
  forget(): boolean {
    this.settle(DONE, this.state.next);
    const gone = this.#log.erase();
    this.#freeBehind = -1;
    this.state.told = 0;
    this.#headToEnd();
    return gone;
  }

  #start(oldest: number): void {
    this.#headSequence = oldest;
    if (this.waiting === 0) this.#headToEnd();
    // A sector that was erased for room when the power failed, before the next header could say so.
    else this.#dropBefore(this.#dropOldest ? FULL : UNREADABLE, oldest);
    this.rewind();
  }

  #toHead(): void {
    this.#sequence = this.#headSequence;
    this.#cursor = this.#headAt;
    this.#number = this.#headNumber;
  }

  #keepHead(): void {
    this.#setHead(this.#sequence, this.#cursor, this.#number);
  }

  #headToEnd(): void {
    this.#setHead(this.state.sequence, this.#log.tail, this.state.next);
  }

  #setHead(sequence: number, at: number, number: number): void {
    this.#headSequence = sequence;
    this.#headAt = at;
    this.#headNumber = number;
  }

  /** What was sent from memory may have been the last of its sector. */
  #passSectors(): void {
    for (let next = this.#headSequence + 1; next <= this.state.sequence; next++) {
      const first = this.#log.map.firstIn(next);
      if (first === undefined || first > this.state.confirmed) return;
      this.#setHead(next, HEADER_BYTES, first);
    }
  }

  /** Drops what waits before sector `from`, or before the next one whose header can be read; the head goes there. Nothing from `limit` on. */
  #dropBefore(kind: typeof FULL | typeof UNREADABLE, from: number, limit = this.state.next): void {
    const { state } = this;
    const { map } = this.#log;
    let sequence = from;
    let first = map.firstIn(sequence);
    while (first === undefined && sequence < state.sequence) first = map.firstIn(++sequence);
    const points = applyMark(state, kind, Math.min(limit, first ?? limit));
    if (first === undefined) this.#headToEnd();
    else this.#setHead(sequence, HEADER_BYTES, first);
    if (points === 0) return;
    this.#mark(kind, state.confirmed);
    this.#owner.dropped(points, kind === FULL ? "full" : "unreadable");
  }

  /** The sector behind the newest holds nothing that waits. */
  #nextIsFree(): boolean {
    const { map } = this.#log;
    const victim = this.state.sequence + 1 - map.count;
    if (this.waiting === 0 || victim < this.#headSequence) return true;
    const first = map.firstIn(victim + 1);
    if (first === undefined || first > this.state.confirmed) return false;
    this.#setHead(victim + 1, HEADER_BYTES, first);
    return true;
  }

  #openNext(): void {
    if (this.#log.openNext() && this.waiting === 0) this.#headToEnd();
  }

  #mark(kind: number, number: number): void {
    if (!this.usable || this.#log.mark(kind, number) || !this.usable) return;
    // The next header says it. It can only come later if a cut closed the sector that was free.
    if (this.#nextIsFree()) this.#openNext();
  }
}
