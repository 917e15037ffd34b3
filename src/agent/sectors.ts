// The durable queue: a log of records over raw sectors.
//
// A sector is erased, gets a header with all that is known at that moment, then records until it is full; then comes the next one round.
// Points are records; that points are delivered or dropped is a record too (a mark). Every byte is written once between two erases.
// The sector behind the one being written is always free of waiting points (else the oldest ones are dropped, or the new one is
// refused): so marks always find room, and a sector is only ever erased when nothing in it is wanted any more.
import type { Blocks } from "../port.js";
import {
  DONE,
  FULL,
  isPoint,
  lengthOf,
  MARK_BYTES,
  MAX_RECORD,
  putMark,
  seal,
  soundLength,
  TOLD,
  UNREADABLE,
} from "./record.js";
import {
  applyMark,
  applyRecord,
  emptyState,
  HEADER_BYTES,
  isBlank,
  putHeader,
  type SectorState,
} from "./sectors-header.js";
import { SectorMap } from "./sectors-map.js";
import { recover } from "./sectors-recover.js";

const LEAST_SECTOR = 512;

/** Who is told what the sectors can't do. */
export interface SectorsOwner {
  /** A line for people: the sectors can't be used. */
  tell(line: string): void;
  /** Points went for want of room, or because they can't be read. */
  dropped(points: number, reason: "full" | "unreadable"): void;
}

export class Sectors {
  /** The sector at hand. */
  readonly page: Uint8Array;
  readonly state: SectorState = emptyState();
  /** False: nothing more is written. What waits may still be read. */
  usable = false;
  /** The point that `step` came to, in `page`. */
  at = 0;
  end = 0;
  readonly #map: SectorMap;
  readonly #dropOldest: boolean;
  readonly #owner: SectorsOwner;
  readonly #mark = new Uint8Array(MARK_BYTES);
  /** Where the next record goes in the newest sector. */
  #tail = 0;
  #pageSequence = 0;
  // The first point that is not dealt with lies here or behind: sector, position, number.
  #headSequence = 1;
  #headAt = HEADER_BYTES;
  #headNumber = 0;
  // Where `step` is.
  #sequence = 1;
  #cursor = HEADER_BYTES;
  #number = 0;

  constructor(blocks: Blocks, dropOldest: boolean, owner: SectorsOwner) {
    this.#map = new SectorMap(blocks);
    this.#dropOldest = dropOldest;
    this.#owner = owner;
    const fit = blocks.sectorSize >= LEAST_SECTOR && this.#map.count >= 2;
    this.page = new Uint8Array(fit ? blocks.sectorSize : 0);
    if (fit) this.#open();
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    return this.state.next - this.state.confirmed;
  }

  /** Longest record. */
  get most(): number {
    return Math.min(this.#map.size - HEADER_BYTES, MAX_RECORD);
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this.#map.size - this.#tail;
  }

  /** Whether `step` has come to the end of all points. */
  get atEnd(): boolean {
    return this.#number >= this.state.next;
  }

  /** Makes room for a record of `length` bytes. False: full and the oldest points stay, or unusable. */
  place(length: number): boolean {
    while (this.usable) {
      const free = this.#nextIsFree();
      const fits = length <= this.room;
      if (fits && free) return true;
      if (free) this.#openNext();
      else if (this.#dropOldest) this.#dropBefore(FULL, this.state.sequence + 2 - this.#map.count);
      else return false;
    }
    return false;
  }

  /** Appends the records from `from` to `to`, for which `place` and `room` have found room. False if they are not on flash. */
  append(bytes: Uint8Array, from: number, to: number): boolean {
    for (let at = from; at < to; at += lengthOf(bytes, at)) seal(bytes, at, this.state.sequence);
    if (!this.#write(bytes.subarray(from, to))) return false;
    for (let at = from; at < to; at += lengthOf(bytes, at)) applyRecord(this.state, bytes, at);
    return true;
  }

  /** The next `step` comes to the first point waiting. What can't be read there is dropped. */
  rewind(): void {
    while (this.waiting > 0) {
      this.#toHead();
      while (this.#number < this.state.confirmed && this.step());
      if (this.#number >= this.state.confirmed) {
        this.#keepHead();
        if (this.step()) break;
      }
      this.#dropBefore(UNREADABLE, this.#sequence + 1);
    }
    this.#toHead();
  }

  /** Goes to the next point. False at the end, and before what can't be read. */
  step(): boolean {
    while (!this.atEnd) {
      if (!this.#load(this.#sequence)) return false;
      const limit = this.#sequence === this.state.sequence ? this.#tail : this.page.length;
      const length = soundLength(this.page, this.#cursor, limit, this.#sequence);
      if (length === 0) {
        if (this.#map.firstIn(this.#sequence + 1) !== this.#number) return false;
        this.#sequence++;
        this.#cursor = HEADER_BYTES;
        continue;
      }
      this.at = this.#cursor;
      this.#cursor += length;
      this.end = this.#cursor;
      if (!isPoint(this.page, this.at)) continue;
      this.#number++;
      return true;
    }
    return false;
  }

  /** All points below `number` are dealt with: `kind` is DONE or REFUSED. Returns how many were not before. */
  settle(kind: number, number: number): number {
    const points = applyMark(this.state, kind, Math.min(number, this.state.next));
    if (points === 0) return 0;
    if (this.waiting === 0) this.#headToEnd();
    else if (this.#number === this.state.confirmed) this.#keepHead();
    this.#writeMark(kind, this.state.confirmed);
    return points;
  }

  /** The platform was told of `drops` in all. */
  told(drops: number): void {
    applyMark(this.state, TOLD, drops);
    this.#writeMark(TOLD, drops);
  }

  /** Forgets all points, and erases them. */
  forget(): void {
    this.settle(DONE, this.state.next);
    const { blocks, count, size, header } = this.#map;
    const newest = this.#map.at(this.state.sequence);
    for (let i = 1; this.usable && i <= count; i++) {
      // The newest goes last: it says that nothing waits in the others.
      const at = (newest + i * size) % (count * size);
      if (blocks.read(at, header) && !isBlank(header) && !blocks.erase(at)) this.#fail();
    }
    this.state.sequence = 0;
    this.#map.anchor(0, count - 1);
    this.#tail = size;
    this.#pageSequence = 0;
    this.#headToEnd();
  }

  #open(): void {
    const found = recover(this.#map, this.page, this.state);
    if (found.kind === "foreign") {
      this.#owner.tell("the durable queue was written by another version: it is kept and not used");
      return;
    }
    if (found.kind === "failed") {
      this.#owner.tell("the durable queue can't be read");
      return;
    }
    this.usable = true;
    this.#tail = found.end;
    this.#pageSequence = this.state.sequence;
    this.#headSequence = found.oldest;
    if (this.waiting === 0) this.#headToEnd();
    // A sector that was erased for room when the power failed, before the next header could say so.
    else this.#dropBefore(this.#dropOldest ? FULL : UNREADABLE, found.oldest);
    this.rewind();
  }

  #toHead(): void {
    this.#sequence = this.#headSequence;
    this.#cursor = this.#headAt;
    this.#number = this.#headNumber;
  }

  #keepHead(): void {
    this.#headSequence = this.#sequence;
    this.#headAt = this.#cursor;
    this.#headNumber = this.#number;
  }

  #headToEnd(): void {
    this.#headSequence = this.state.sequence;
    this.#headAt = this.#tail;
    this.#headNumber = this.state.next;
  }

  /** Drops what waits before sector `from`, or before the next one whose header can be read; the head goes there. */
  #dropBefore(kind: typeof FULL | typeof UNREADABLE, from: number): void {
    const { state } = this;
    let sequence = from;
    let first = this.#map.firstIn(sequence);
    while (first === undefined && sequence < state.sequence) first = this.#map.firstIn(++sequence);
    const points = applyMark(state, kind, first ?? state.next);
    if (first === undefined) this.#headToEnd();
    else {
      this.#headSequence = sequence;
      this.#headAt = HEADER_BYTES;
      this.#headNumber = first;
    }
    if (points === 0) return;
    this.#writeMark(kind, state.confirmed);
    this.#owner.dropped(points, kind === FULL ? "full" : "unreadable");
  }

  /** The sector behind the newest holds nothing that waits. */
  #nextIsFree(): boolean {
    const victim = this.state.sequence + 1 - this.#map.count;
    if (this.waiting === 0 || victim < this.#headSequence) return true;
    const first = this.#map.firstIn(victim + 1);
    if (first === undefined || first > this.state.confirmed) return false;
    this.#headSequence = victim + 1;
    this.#headAt = HEADER_BYTES;
    this.#headNumber = first;
    return true;
  }

  #openNext(): void {
    const { state } = this;
    const { blocks, header } = this.#map;
    const at = this.#map.at(state.sequence + 1);
    state.sequence++;
    putHeader(header, state);
    if (!blocks.erase(at) || !blocks.write(at, header)) {
      state.sequence--;
      this.#fail();
      return;
    }
    this.#tail = HEADER_BYTES;
    if (this.waiting === 0) this.#headToEnd();
  }

  #writeMark(kind: number, number: number): void {
    if (!this.usable) return;
    if (this.room >= MARK_BYTES) {
      putMark(this.#mark, this.state.sequence, kind, number);
      this.#write(this.#mark);
    } else if (this.#nextIsFree()) this.#openNext();
    // Else a cut closed the sector that was free: the next header will say it, once the oldest sector is dealt with.
  }

  #write(bytes: Uint8Array): boolean {
    const { sequence } = this.state;
    if (!this.#map.blocks.write(this.#map.at(sequence) + this.#tail, bytes)) return this.#fail();
    if (this.#pageSequence === sequence) this.page.set(bytes, this.#tail);
    this.#tail += bytes.length;
    return true;
  }

  #load(sequence: number): boolean {
    if (this.#pageSequence === sequence) return true;
    this.#pageSequence = 0;
    if (!this.#map.blocks.read(this.#map.at(sequence), this.page)) return false;
    this.#pageSequence = sequence;
    return true;
  }

  #fail(): false {
    this.usable = false;
    this.#owner.tell("the durable queue can't be written: points are kept in memory only");
    return false;
  }
}
