// The durable queue's sectors on flash.
//
// A sector is erased, gets a header with the full state of the queue, and then records until it is
// full. Then the next sector is opened, round and round. Every byte is written once between two
// erases.
//
// The sector after the newest one never holds a waiting point: the oldest points are dropped, or
// the new point is rejected, to keep it free. So there is always room for marks and states, and an
// erase never destroys a waiting point.
//
// Points are numbered consecutively, and a header has the number of its sector's first point. If
// numbers are missing, because records are damaged or a sector is lost, those points are dropped as
// unreadable when their turn comes.
import { invariant } from "../../invariant.js";
import type { Blocks, ByteLoops } from "../../port.js";
import {
  applyIntact,
  DONE,
  type DropReason,
  dropsOf,
  emptyState,
  epochOf,
  FRONT_BYTES,
  finish,
  intactLength,
  isAfter,
  isIntactState,
  isOtherState,
  isPoint,
  isState,
  kindOf,
  MARK_BYTES,
  MAX_RECORD,
  mayBePoint,
  missingBefore,
  mostPoints,
  nextIn,
  OPENING_BYTES,
  POINT,
  padded,
  putMark,
  putState,
  type QueueState,
  type Records,
  readState,
  readValue,
  recordsIn,
  STATE_BYTES,
  seal,
  sequenceOf,
  sizeOf,
} from "./record.js";
import type { EpochTime } from "./stamps.js";

const MIN_SECTOR = 512;
/** A single failed read may be a bus disturbance, so try again before giving up points. */
const READ_TRIES = 3;
/** Of a start. */
const SCAN_TRIES = 3;
/** Read at once: the head of a record and, of most records, the rest. */
const FIRST_READ = 256;

/** A position in the sectors. The next point from there is number `number` or a later one. */
interface Position {
  sequence: number;
  at: number;
  number: number;
}

/** `room`: the buffer has no room for the next point. `unread`: the host cannot read now. */
type Found = "point" | "gap" | "unread" | "room" | "end";

/** Results of reading: nothing intact is there, or the buffer has no room. */
const NONE = 0;
const NO_ROOM = -1;

const move = (position: Position, sequence: number, at: number, number: number): void => {
  position.sequence = sequence;
  position.at = at;
  position.number = number;
};

const epochIn = (words: Int32Array, from: number, to: number, epoch: number): boolean => {
  for (let at = from; at < to; at += sizeOf(words, at))
    if (kindOf(words, at) === POINT && epochOf(words, at) !== epoch) return false;
  return true;
};

export class SectorLog {
  readonly state: QueueState;
  /** Random number of this queue; 0: not known. */
  id = 0;
  /** A write or an erase failed and no sector was opened since. */
  failed = false;
  /** More of `state` changed since the last record of it than points and marks tell. */
  dirty = false;
  /** The blocks contain data that is not a queue. */
  isForeign = false;
  /** The blocks may contain a queue, which cannot be read or is another version's. */
  isUnknown = false;
  /** The newest sector was not read to its end. */
  isCut = false;
  /** Drops that flash or the witness contains. */
  savedDrops = 0;
  /** Points found damaged at the end of the newest sector; `state` counts them as unreadable. */
  spoiled = 0;
  private readonly _blocks: Blocks;
  private readonly _loops: ByteLoops | undefined;
  private readonly _size: number;
  private readonly _count: number;
  /** Bytes that the host cannot read count as damaged. */
  givesUp = false;
  /** The host could not read since this was cleared: those bytes were taken for 0. */
  private _isUnread = false;
  /** Where records are read to. */
  private readonly _into: Records;
  /** A mark, or a state and its copy: to be written, or read as a header. */
  private readonly _entry: Records;
  private readonly _stateBytes: Uint8Array;
  private readonly _markBytes: Uint8Array;
  /** As much of a header as its sequence number needs. */
  private readonly _frontBytes: Uint8Array;
  /** The sector with number `sequence` is at index `(sequence + _shift) % _count`. */
  private _shift = 0;
  /** Offset of the next record in the newest sector; the sector size if it takes no more. */
  private _tail: number;
  /** Number of the newest sector that the start found. */
  private _newest = 0;
  /** Number of the first point in the newest sector. */
  private _first = 0;
  /** The next point's number, as the records on flash say. */
  private _next = 0;
  /** Sectors after the newest that the last attempt to open one skipped. */
  private _skipped = 0;
  /** While this sector is the newest, the sector after it is known to hold no waiting point. */
  private _freeAfter = -1;
  /** At or before the first waiting point. */
  private readonly _head: Position = { sequence: 0, at: 0, number: 0 };
  private readonly _cursor: Position = { sequence: 0, at: 0, number: 0 };
  /** The sector being read, the one that follows it, and the first point's number there. */
  private _followed = -1;
  private _follower = 0;
  private _followerFirst = 0;

  /**
   * Undefined if the blocks are too small. Reads to the front of `into`, which holds any record.
   */
  static over(
    blocks: Blocks,
    loops: ByteLoops | undefined,
    state: QueueState,
    into: Records,
  ): SectorLog | undefined {
    const fits = blocks.sectorSize >= MIN_SECTOR && blocks.sectorSize % 4 === 0;
    if (!fits || blocks.size < 2 * blocks.sectorSize) return undefined;
    return new SectorLog(blocks, loops, state, into);
  }

  private constructor(blocks: Blocks, loops: ByteLoops | undefined, state: QueueState, into: Records) {
    this.state = state;
    this._blocks = blocks;
    this._loops = loops;
    this._size = blocks.sectorSize;
    this._count = Math.floor(blocks.size / blocks.sectorSize);
    this._tail = this._size;
    this._into = into;
    const bytes = new Uint8Array(OPENING_BYTES);
    this._entry = recordsIn(bytes, into.crc);
    this._stateBytes = bytes.subarray(0, STATE_BYTES);
    this._markBytes = bytes.subarray(0, MARK_BYTES);
    this._frontBytes = bytes.subarray(0, FRONT_BYTES);
  }

  /** Share of the sectors that hold waiting points, 0 to 1. */
  get fill(): number {
    const { state } = this;
    if (state.finished >= state.stored) return 0;
    this._advanceHead();
    return (state.sequence - this._head.sequence + 1) / this._count;
  }

  /** Length of the longest record, in bytes. */
  get most(): number {
    return Math.min(this._size - OPENING_BYTES, MAX_RECORD);
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this._size - this._tail;
  }

  /** No point has this number or a later one until the next sector is opened. */
  get bound(): number {
    return this.state.stored + mostPoints(this.room);
  }

  // The start.

  /**
   * Reads the state from the newest sector. `state.sequence` is 0 if there is no queue. Sectors
   * that cannot be read count as damaged: a disturbance usually ends at once.
   */
  load(): void {
    for (let tries = 0; tries < SCAN_TRIES; tries++) {
      this._isUnread = false;
      this._scan();
      if (!this._isUnread) return;
    }
    this.isForeign = false;
    this.isUnknown = true;
  }

  private _scan(): void {
    const { state } = this;
    const index = this._findNewest();
    const { sequence } = state;
    const isUnread = this._isUnread;
    this._isUnread = false;
    this._anchor(sequence, index);
    Object.assign(state, emptyState());
    this.id = this.spoiled = 0;
    this.dirty = false;
    this._tail = this._size;
    if (sequence > 0 && this._readHeader(index * this._size) === sequence) {
      this.id = readState(state, this._entry.words);
      this._first = state.stored;
      this._replay();
    }
    this.isCut = this._isUnread;
    this._isUnread ||= isUnread;
    this._newest = state.sequence;
    this._next = state.stored;
    this.savedDrops = dropsOf(state);
  }

  /** Continues with the state, to which missing points were added. */
  findHead(): void {
    const { state } = this;
    this._followed = -1;
    this._freeAfter = -1;
    // Records behind those of the sector would get lower numbers: only a header says the next one.
    if (state.stored !== this._next) this._tail = this._size;
    this._next = state.stored;
    // The witness knows of newer sectors, which cannot be read now.
    if (state.sequence !== this._newest) {
      this._tail = this._size;
      this._first = state.stored;
    }
    if (state.sequence === 0 || state.finished >= state.stored) {
      move(this._head, state.sequence, this._tail, state.finished);
      return;
    }
    // Go back to the sector of the first waiting point. Skipped sectors have no header.
    let oldest = state.sequence;
    let first = this._first;
    const last = Math.max(0, state.sequence - this._count);
    for (let at = oldest - 1; at > last && first > state.finished; at--) {
      const found = this._firstIn(at);
      if (found < 0) continue;
      oldest = at;
      first = found;
    }
    move(this._head, oldest, OPENING_BYTES, first);
  }

  /** Index of the newest sector, whose number becomes the state's. */
  private _findNewest(): number {
    const { state } = this;
    const { words: header } = this._entry;
    let newest = 0;
    let index = this._count - 1;
    // A single one is the very first header, interrupted while it was written.
    let foreign = 0;
    // From last to first: most headers are older than one already seen and need no checksum.
    for (let i = this._count - 1; i >= 0; i--) {
      const sequence = this._readHeader(i * this._size, newest);
      if (sequence > newest) {
        newest = sequence;
        index = i;
      } else if (sequence === NONE && header[0] !== -1) foreign++;
    }
    // The newest sector's sequence number may be damaged, so check the sector after it.
    const after = this._readHeader(((index + 1) % this._count) * this._size);
    if (after > newest) {
      newest = after;
      index = (index + 1) % this._count;
    }
    this.isForeign = newest === 0 && foreign > 1;
    this._read(0, this._frontBytes);
    this.isUnknown = this.isForeign && isOtherState(header);
    state.sequence = newest;
    return index;
  }

  /**
   * Reads the header of the sector at `at`, or its copy, to `_entry`. Returns its sequence number
   * or NONE; any number up to `known` if the header is that of a sector up to that one.
   */
  private _readHeader(at: number, known = 0): number {
    const { words: header } = this._entry;
    this._read(at, this._frontBytes);
    if (known > 0 && isState(header) && sequenceOf(header) <= known) return known;
    if (header[0] === -1 && header[1] === -1) return NONE;
    for (const copy of [at, at + STATE_BYTES]) {
      this._read(copy, this._stateBytes);
      if (isIntactState(this._entry)) return sequenceOf(header);
    }
    header[0] = 0;
    return NONE;
  }

  /** Applies the records of the newest sector and finds the place for the next one. */
  private _replay(): void {
    const { state } = this;
    const { words, bytes } = this._into;
    const { sequence } = state;
    const sector = this._offset(sequence);
    let at = OPENING_BYTES;
    let isDamaged = false;
    for (;;) {
      const got = Math.min(this._size - at, bytes.length & ~3);
      this._read(sector + at, bytes.subarray(0, got));
      const length = applyIntact(state, this._into, got);
      let end = at;
      // The rest of the sector is in the buffer, and usually empty.
      if (at + got === this._size) end = at + this._lastIn(length, got);
      at += length;
      if (length > 0 && end !== at) continue;
      if (length === 0) end = this._lastWritten(sector, at);
      if (end === at) {
        this._tail = isDamaged ? this._size : at;
        return;
      }
      const intact = this._findIntact(sequence, at + 4);
      if (intact === NONE) {
        this._spoiled(sector, at, end);
        return;
      }
      state.stored += missingBefore(words, 0, state.stored);
      isDamaged = true;
      at = intact;
    }
  }

  /**
   * The last record was interrupted while it was written, or damaged later. Its bytes are spent.
   */
  private _spoiled(sector: number, at: number, end: number): void {
    const { words, bytes } = this._into;
    this._read(sector + end - 4, bytes.subarray(0, 4));
    const last = words[0] as number;
    this._read(sector + at, bytes.subarray(0, Math.min(MARK_BYTES, this._size - at)));
    if (mayBePoint(words, last, at, end)) {
      this.state.unreadable++;
      this.spoiled++;
    }
    this.dirty = true;
    this._tail = this._size;
  }

  // Writing.

  /**
   * Makes room for a record of `length` bytes. False if the queue is full of waiting points;
   * undefined if no write works.
   */
  makeRoom(length: number): boolean | undefined {
    const { state } = this;
    // Points were delivered from memory: what is written next has a number behind theirs.
    this.saveUnwritten();
    if (this._freeAfter === state.sequence && length <= this._size - this._tail) return true;
    while (!this.failed) {
      const { sequence } = state;
      const hasRoom = length <= this.room;
      const isFree = this._isFree(sequence + (hasRoom ? 1 : 2));
      if (isFree === undefined) this._fail();
      if (!isFree) return isFree;
      if (hasRoom) {
        this._freeAfter = sequence;
        return true;
      }
      this.openNext();
    }
    return undefined;
  }

  /** Number behind the points of the oldest sector, after `makeRoom` found the queue full. */
  get oldestEnd(): number {
    return this._endOf(this._head.sequence);
  }

  /**
   * Appends `points` of the state's epoch, the records `from` to `to`, after `makeRoom` and `room`
   * found room for them. False if they are not on flash.
   */
  append(records: Records, from: number, to: number, points: number): boolean {
    const { state } = this;
    invariant("points go to flash in the order of their numbers", () => this._next === state.stored);
    invariant(
      "the sector after the newest one holds no waiting point",
      () => this._isFree(state.sequence + 1) !== false,
    );
    invariant("points go to flash in their own epoch", () => epochIn(records.words, from, to, state.epoch));
    seal(records, from, to, state);
    if (!this._write(records.bytes.subarray(from, to))) return false;
    state.stored += points;
    this._next = state.stored;
    return true;
  }

  /** All points below `number` are delivered or, for a `reason`, dropped. */
  finish(number: number, reason?: DropReason): void {
    const { state } = this;
    const { sequence, at, number: reached } = this._cursor;
    const wasStored = state.finished < state.stored;
    finish(state, number, reason);
    if (reached === state.finished) move(this._head, sequence, at, reached);
    if (reason) this.dirty = true;
    if (this.failed) this.dirty = true;
    else if (this.dirty) this.save();
    else if (wasStored) this._mark();
  }

  /**
   * Points were finished that were never written: saves how far their numbers and time stamps got,
   * or a later start would use them again.
   */
  saveUnwritten(): void {
    if (!this.failed && this._next >= 0 && this._next !== this.state.stored) this.save();
  }

  /** Writes the whole state, as a record or at the start of the next sector. */
  save(): void {
    putState(this._entry, this.state, this.id);
    this.dirty = true;
    if (!this._put(this._stateBytes)) return;
    this.dirty = false;
    this.savedDrops = dropsOf(this.state);
  }

  /**
   * Opens the next sector if it is free; its header holds the full state. If that fails, tries one
   * sector after it, another one each time. So a single bad sector is skipped, and none is skipped
   * for good when all fail for a while.
   */
  openNext(): boolean {
    this.failed = false;
    const next = this.state.sequence + 1;
    const isFree = this._isFree(next);
    if (isFree === undefined) return this._fail();
    if (!isFree) return false;
    if (this._open(next)) return true;
    if (!this._isFree(next + ++this._skipped)) this._skipped = 1;
    return (this._isFree(next + this._skipped) === true && this._open(next + this._skipped)) || this._fail();
  }

  /**
   * Forgets all points and erases every used sector; false if one could not be erased. The newest
   * goes last, because its header says that no point in the others is waiting.
   */
  forget(): boolean {
    const { state } = this;
    this.finish(state.stored);
    const newest = this._offset(state.sequence);
    let isErased = true;
    for (let i = 1; i <= this._count; i++) {
      const at = (newest + i * this._size) % (this._count * this._size);
      // An interrupted erase may leave only bytes after the header, so check the whole sector.
      if (this._lastWritten(at, 0) === 0) continue;
      if (!this._blocks.erase(at)) isErased = false;
    }
    state.sequence = state.reported = 0;
    this._anchor(0, this._count - 1);
    this._next = this._newest = -1;
    this._skipped = 0;
    this.failed = !isErased;
    this.dirty = false;
    this.findHead();
    return isErased;
  }

  private _open(sequence: number): boolean {
    const { state } = this;
    const at = this._offset(sequence);
    invariant("an erased sector holds no waiting point", () => this._isFree(sequence) !== false);
    if (!this._blocks.erase(at)) return false;
    const before = state.sequence;
    state.sequence = sequence;
    putState(this._entry, state, this.id);
    const { bytes } = this._entry;
    bytes.copyWithin(STATE_BYTES, 0, STATE_BYTES);
    if (!this._blocks.write(at, bytes)) {
      state.sequence = before;
      return false;
    }
    this.failed = this.dirty = false;
    this.savedDrops = dropsOf(state);
    this._skipped = 0;
    this._tail = OPENING_BYTES;
    this._first = this._next = state.stored;
    this._followed = -1;
    return true;
  }

  private _mark(): void {
    putMark(this._entry, this.state);
    this._put(this._markBytes);
  }

  /**
   * Writes a record, or opens the next sector, whose state contains it. False if neither worked.
   */
  private _put(bytes: Uint8Array): boolean {
    if (bytes.length > this.room || !this._write(bytes)) {
      this.dirty = true;
      return !this.failed && this.openNext();
    }
    this._next = this.state.stored;
    return true;
  }

  /** Appends nothing after a record that may be half-written. */
  private _fail(): false {
    this._tail = this._size;
    this.failed = true;
    return false;
  }

  private _write(bytes: Uint8Array): boolean {
    if (!this._blocks.write(this._offset(this.state.sequence) + this._tail, bytes)) return this._fail();
    this._tail += bytes.length;
    return true;
  }

  // Reading.

  /** Makes `step` return the first waiting point. */
  rewind(): void {
    this._advanceHead();
    const { sequence, at, number } = this._head;
    move(this._cursor, sequence, at, number);
  }

  /**
   * Reads the next waiting point to `target` (word-aligned) of the buffer, before `limit`. Goes
   * behind a gap. Unless the point `isFirst` in the buffer, a gap and bytes that cannot be read
   * count as no room.
   */
  step(target: number, limit: number, isFirst: boolean): Found {
    const { state, _cursor: cursor } = this;
    const { words } = this._into;
    this._isUnread = false;
    while (cursor.number < state.stored) {
      const end = this._endOf(cursor.sequence);
      if (!this._isUnread && cursor.number >= end) {
        move(cursor, this._follower, OPENING_BYTES, end);
        continue;
      }
      const length = this._readRecord(cursor.sequence, cursor.at, target, limit);
      if (length <= NONE) {
        if (!isFirst) return "room";
        const gap = this._isUnread ? "unread" : this._skipGap(end, target, limit);
        if (gap) return gap;
        continue;
      }
      cursor.at += length;
      if (!isPoint(words, target)) {
        // Points that were delivered from memory have no record.
        const isMark = kindOf(words, target) === DONE;
        const next = isMark ? readValue(words, target) : nextIn(words, target);
        cursor.number = Math.max(cursor.number, next);
      } else if (cursor.number++ >= state.finished) return "point";
      else move(this._head, cursor.sequence, cursor.at, cursor.number);
    }
    return "end";
  }

  /** Goes back to before the point of `length` bytes that `step` returned. */
  back(length: number): void {
    this._cursor.at -= padded(length);
    this._cursor.number--;
  }

  /** Number of the point that `step` returns next, or a lower one. */
  get at(): number {
    return this._cursor.number;
  }

  private _skip(sequence: number, at: number, number: number): void {
    move(this._cursor, sequence, at, number);
    move(this._head, sequence, at, number);
  }

  /**
   * When a past `epoch` with waiting points began, and until when its milliseconds are guesses.
   * Overwrites the buffer. Undefined if no entry says so, "unread" if the host cannot read one.
   */
  findTime(epoch: number): EpochTime | "unread" | undefined {
    const opened = emptyState();
    this._isUnread = false;
    // The last sector that was opened in this epoch or before it contains its last time.
    let { sequence } = this._head;
    let found = { start: 0, exactFrom: 0 };
    for (let next = sequence; next <= this.state.sequence; next++) {
      if (next <= 0 || this._readHeader(this._offset(next)) !== next) continue;
      readState(opened, this._entry.words);
      if (isAfter(opened.epoch, epoch)) break;
      sequence = next;
      if (opened.epoch === epoch) found = { start: opened.start, exactFrom: opened.exactFrom };
    }
    const { words } = this._into;
    let at = sequence > 0 ? this._findIntact(sequence, OPENING_BYTES) : NONE;
    for (; at !== NONE; at = this._findIntact(sequence, at + sizeOf(words, 0))) {
      if (!isState(words)) continue;
      readState(opened, words);
      if (opened.epoch === epoch) found = { start: opened.start, exactFrom: opened.exactFrom };
    }
    if (this._isUnread) return "unread";
    return found.start > 0 ? found : undefined;
  }

  /** Nothing intact is at the cursor. Undefined if no point is missing. */
  private _skipGap(end: number, target: number, limit: number): Found | undefined {
    const { state, _cursor: cursor } = this;
    const intact = this._findIntact(cursor.sequence, cursor.at + 4, target, limit);
    if (this._isUnread) return "unread";
    if (intact === NONE) {
      if (cursor.sequence === state.sequence) this._skip(cursor.sequence, this._tail, end);
      else this._skip(this._follower, OPENING_BYTES, end);
      return "gap";
    }
    const missing = missingBefore(this._into.words, target, cursor.number);
    cursor.at = intact;
    if (missing === 0) return undefined;
    this._skip(cursor.sequence, intact, Math.min(cursor.number + missing, end));
    return "gap";
  }

  /** Number of the first point after sector `sequence`. */
  private _endOf(sequence: number): number {
    if (sequence === this.state.sequence) return this.state.stored;
    if (this._followed !== sequence) {
      // Skipped sectors have no header of this round.
      this._follower = sequence;
      this._followerFirst = -1;
      while (this._followerFirst < 0) this._followerFirst = this._firstIn(++this._follower);
      this._followed = this._isUnread ? -1 : sequence;
    }
    return this._followerFirst;
  }

  /** Moves the head over sectors whose points are all finished. */
  private _advanceHead(): void {
    const { state, _head: head } = this;
    if (state.finished >= state.stored) {
      move(head, state.sequence, this._tail, state.stored);
      return;
    }
    this._isUnread = false;
    while (head.sequence < state.sequence) {
      const end = this._endOf(head.sequence);
      if (this._isUnread || end > state.finished) return;
      move(head, this._follower, OPENING_BYTES, end);
    }
  }

  /**
   * True if no waiting point is in the sector that will become number `next`; undefined if the host
   * cannot read.
   */
  private _isFree(next: number): boolean | undefined {
    const { state } = this;
    this._advanceHead();
    if (state.finished >= state.stored || next - this._count < this._head.sequence) return true;
    return this._isUnread ? undefined : false;
  }

  /** Number of the first point in sector `sequence`; -1 if its header is missing. */
  private _firstIn(sequence: number): number {
    if (sequence === this.state.sequence) return this._first;
    if (sequence <= 0 || this._readHeader(this._offset(sequence)) !== sequence) return -1;
    return nextIn(this._entry.words);
  }

  /** Byte offset of a sector. */
  private _offset(sequence: number): number {
    return ((sequence + this._shift) % this._count) * this._size;
  }

  /** Anchors the numbering: sector `sequence` is at `index`, the next one after it, and so on. */
  private _anchor(sequence: number, index: number): void {
    this._shift = (index - (sequence % this._count) + this._count) % this._count;
  }

  /** Fills `into` from `at`, with 0 if the host cannot read. */
  private _read(at: number, into: Uint8Array): void {
    for (let tries = 0; tries < READ_TRIES; tries++) if (this._blocks.read(at, into)) return;
    into.fill(0);
    this._isUnread = !this.givesUp;
  }

  /**
   * Reads the record at `at` to `target` of the buffer, before `limit`. Returns its padded length,
   * NONE if it is not intact, or NO_ROOM.
   */
  private _readRecord(sequence: number, at: number, target: number, limit = this._into.bytes.length): number {
    const left = (sequence === this.state.sequence ? this._tail : this._size) - at;
    if (left < MARK_BYTES) return NONE;
    const free = (limit - target) & ~3;
    if (free < MARK_BYTES) return NO_ROOM;
    const { bytes, words } = this._into;
    const from = this._offset(sequence) + at;
    const got = Math.min(left, free, FIRST_READ);
    this._read(from, bytes.subarray(target, target + got));
    const length = sizeOf(words, target);
    if (length > left) return NONE;
    if (length > free) return NO_ROOM;
    if (length > got) this._read(from + got, bytes.subarray(target + got, target + length));
    return intactLength(this._into, target, target + Math.max(got, length), sequence);
  }

  /** Offset of the next intact record from `at` on, which is then in the buffer; or NONE. */
  private _findIntact(sequence: number, at: number, target = 0, limit = this._into.bytes.length): number {
    for (let here = at; here + MARK_BYTES <= this._size && !this._isUnread; here += 4)
      if (this._readRecord(sequence, here, target, limit) > 0) return here;
    return NONE;
  }

  /** End of the last word from `at` on that was written; `at` if there is none. */
  private _lastWritten(sector: number, at: number): number {
    const { bytes } = this._into;
    let last = at;
    for (let here = at; here < this._size; ) {
      const length = Math.min(this._size - here, bytes.length & ~3);
      this._read(sector + here, bytes.subarray(0, length));
      const end = this._lastIn(0, length);
      if (end > 0) last = here + end;
      here += length;
    }
    return last;
  }

  /** End of the last word in the buffer's range that was written; `from` if there is none. */
  private _lastIn(from: number, to: number): number {
    const { bytes, words } = this._into;
    if (this._loops?.isErased(bytes.subarray(from, to), 0)) return from;
    let end = to;
    while (end > from && words[(end >> 2) - 1] === -1) end -= 4;
    return end;
  }
}
