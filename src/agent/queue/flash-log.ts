// The durable queue: a log of records over raw sectors.
//
// A sector is erased, gets a header with the full state of the queue, and then records until it is
// full. Then the next sector is opened, round and round. A point is a record. That points are
// delivered or dropped is a record too (a status entry). Every byte is written once between two
// erases.
//
// The sector after the newest one never holds a waiting point: the oldest points are dropped, or
// the new point is rejected, to keep it free. So there is always room for status entries, and an
// erase never destroys a waiting point.
//
// Points are numbered consecutively. If numbers are missing, because records are damaged or a
// sector is lost, those points are dropped as unreadable when their turn comes.
import { invariant } from "../../invariant.js";
import type { Blocks, ByteLoops } from "../../port.js";
import type { HighWaterMark } from "./high-water-mark.js";
import {
  applyRecords,
  applyStatus,
  COPY_AT,
  correctDrops,
  DONE,
  dropsOf,
  emptyState,
  FULL,
  findIntact,
  firstOf,
  generationOf,
  HEADER_BYTES,
  intactLength,
  isBlank,
  isHeader,
  isIntactHeader,
  isPoint,
  type LogState,
  lengthOf,
  MAX_RECORD,
  mayBePoint,
  mostPoints,
  numberAt,
  OPENING_BYTES,
  padded,
  putOpening,
  putStatus,
  REPORTED,
  type Records,
  readHeader,
  STATUS_BYTES,
  seal,
  sequenceOf,
  UNREADABLE,
} from "./record.js";

const MIN_SECTOR = 512;
/** A single failed read may be a bus disturbance, so try again before giving up points. */
const READ_TRIES = 3;

/** A position in the sectors. The next point from there is number `number` or a later one. */
interface Position {
  sequence: number;
  at: number;
  number: number;
}

/** The newest sector: its index, whether it has a header, and whether its records were read. */
interface Scan {
  readonly index: number;
  readonly isFound: boolean;
  readonly isRead: boolean;
}

const moveTo = (position: Position, sequence: number, at: number, number: number): void => {
  position.sequence = sequence;
  position.at = at;
  position.number = number;
};

export class FlashLog implements Records {
  readonly state: LogState = emptyState();
  /** The sector that was read last. */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The current point in `bytes`, from `at` to `end`, as set by `step`. */
  at = 0;
  end = 0;
  /** A write or an erase failed and no sector was opened since. New points stay in memory. */
  failed = false;
  /** `state` is ahead of the records and headers on flash. The next header will contain it. */
  dirty = false;
  /** Drops in `state` that neither flash nor the high-water mark contains. */
  unsavedDrops = 0;
  /** Random number of this queue; 0 until a sector is opened. */
  generation = 0;
  /** The blocks contain data that is not a queue. */
  wasForeign = false;
  /** Points found missing at the start, at most. They are already counted in `state`. */
  readonly lost = { full: 0, unreadable: 0 };
  private readonly _blocks: Blocks;
  private readonly _loops: ByteLoops | undefined;
  private readonly _sectorSize: number;
  private readonly _sectorCount: number;
  private readonly _dropOldest: boolean;
  /** The header that was read last. */
  private readonly _header = new Uint8Array(HEADER_BYTES);
  private readonly _headerWords = new Int32Array(this._header.buffer);
  private readonly _opening: Records;
  private readonly _status = new Int32Array(STATUS_BYTES / 4);
  /** The sector with number `sequence` is at index `(sequence + _shift) % _sectorCount`. */
  private _shift = 0;
  /**
   * Offset of the next record in the newest sector; the sector size if it takes no more records.
   */
  private _tail: number;
  /** Number of the first point in the newest sector. */
  private _firstInNewest = 0;
  /** A newest sector whose header is damaged, with the number of its first point; -1: none. */
  private _headless = -1;
  private _firstInHeadless = 0;
  /** Sectors after the newest that the last attempt to open one skipped. */
  private _skipped = 0;
  /** While this sector is the newest, the sector after it is known to hold no waiting point. */
  private _freeAfter = -1;
  /** Position of the first waiting point. */
  private readonly _head: Position = { sequence: 1, at: HEADER_BYTES, number: 0 };
  private readonly _cursor: Position = { sequence: 1, at: HEADER_BYTES, number: 0 };
  /** Position where reading can continue after an unreadable range. */
  private readonly _resumeAt: Position = { sequence: 1, at: HEADER_BYTES, number: 0 };
  /** Outbox number of a point minus its number here. Points never written have no number here. */
  private _outboxOffset = 0;
  /** The sector in `bytes`; 0: none. Records from `_intactFrom` to `_intactTo` were verified. */
  private _loaded = 0;
  private _intactFrom = 0;
  private _intactTo = 0;
  /**
   * The sector being read, the sector that follows it, and the first point number in the latter.
   */
  private _followed = -1;
  private _follower = 0;
  private _followerFirst = 0;
  /** A sector could not be read at the start. Nothing is written before it was tried again. */
  private _isUnread = false;
  /** Number of the newest sector that was read at the start, 0: none, and the drops known then. */
  private _atStart = { isFound: false, newest: 0, full: 0, refused: 0, unreadable: 0 };

  /**
   * Opens the queue and counts the points that `mark` knows of and flash does not have. They
   * count as unreadable, at once or when their turn comes. Undefined if the blocks are too small.
   */
  static open(
    blocks: Blocks,
    dropOldest: boolean,
    mark: HighWaterMark,
    loops?: ByteLoops,
  ): FlashLog | undefined {
    const fits = blocks.sectorSize >= MIN_SECTOR && blocks.sectorSize % 4 === 0;
    if (!fits || blocks.size < 2 * blocks.sectorSize) return undefined;
    let log = new FlashLog(blocks, dropOldest, loops);
    let scan = log._scan();
    // A disturbance at the start usually ends at once.
    for (let tries = 1; log._isUnread && tries < READ_TRIES; tries++) {
      log = new FlashLog(blocks, dropOldest, loops);
      scan = log._scan();
    }
    log._recover(mark, scan);
    return log;
  }

  private constructor(blocks: Blocks, dropOldest: boolean, loops: ByteLoops | undefined) {
    this._blocks = blocks;
    this._loops = loops;
    this._sectorSize = blocks.sectorSize;
    this._sectorCount = Math.floor(blocks.size / blocks.sectorSize);
    this._tail = this._sectorSize;
    this._dropOldest = dropOldest;
    this.bytes = new Uint8Array(this._sectorSize);
    this.words = new Int32Array(this.bytes.buffer);
    const opening = new Uint8Array(OPENING_BYTES);
    this._opening = { bytes: opening, words: new Int32Array(opening.buffer) };
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    return this.state.next - this.state.finishedBelow;
  }

  /** Share of the sectors that hold waiting points, 0 to 1. */
  get fill(): number {
    return this.waiting === 0 ? 0 : (this.state.sequence - this._head.sequence + 1) / this._sectorCount;
  }

  /** The outbox number of the first waiting point. */
  get first(): number {
    return this.state.finishedBelow + this._outboxOffset;
  }

  /** Length of the longest record, in bytes. */
  get most(): number {
    return Math.min(this._sectorSize - OPENING_BYTES, MAX_RECORD);
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this._sectorSize - this._tail;
  }

  /** Upper bound of point numbers until the next sector is opened. */
  get bound(): number {
    return this.state.next + mostPoints(this.room);
  }

  /**
   * Makes room for a record of `length` bytes. False if the queue is full and keeps its oldest
   * points, or if no write works.
   */
  makeRoom(length: number): boolean {
    if (this._isUnread && !this._readAgain()) return this._fail();
    if (this._freeAfter === this.state.sequence && length <= this.room) return true;
    while (!this.failed) {
      const next = this.state.sequence + 1;
      if (this._isFree(next)) {
        this._freeAfter = this.state.sequence;
        if (length <= this.room) return true;
        this.openNext();
      } else if (this._dropOldest) {
        const oldest = this._nextHeaded(next - this._sectorCount);
        this._drop(FULL, this._firstIn(oldest), oldest, HEADER_BYTES);
      } else return false;
    }
    return false;
  }

  /**
   * Appends the records `from` to `to`, after `makeRoom` and `room` found room for them. The first
   * one is point `number` of the outbox. False if they are not on flash.
   */
  append({ bytes, words }: Records, from: number, to: number, number: number): boolean {
    const { state } = this;
    invariant(
      "points go to flash in the order of their numbers",
      () => number - state.next >= this._outboxOffset,
    );
    invariant(
      "the sector after the newest one holds no waiting point",
      () => this.waiting === 0 || state.sequence + 1 - this._sectorCount < this._head.sequence,
    );
    this._outboxOffset = number - state.next;
    seal(words, from, to, state.sequence, state.next);
    if (!this._write(bytes.subarray(from, to))) return false;
    applyRecords(state, words, from, to);
    return true;
  }

  /**
   * After a failure: opens the next sector, whose header holds the full state. False if that
   * failed.
   */
  retry(): boolean {
    this.failed = false;
    this.makeRoom(STATUS_BYTES);
    return !this.failed;
  }

  /** Counts dropped points that were never on flash. The next header includes them. */
  count(points: number, reason: "full" | "refused"): void {
    this.state[reason] += points;
    this.unsavedDrops += points;
    if (this.failed) this.dirty = true;
  }

  /**
   * A point got the time stamp `ts`. The next header contains it, because the point may be
   * delivered from memory, and another point with this time stamp would overwrite it on the
   * platform.
   */
  stamped(ts: number): void {
    this.state.lastStamp = ts;
  }

  /** The high-water mark contains all drops now. */
  dropsSaved(): void {
    this.unsavedDrops = 0;
  }

  /** Finishes all points below outbox number `number`; `kind` is DONE or REFUSED. */
  finish(kind: number, number: number): void {
    const { state, _cursor: cursor } = this;
    const points = applyStatus(state, kind, number - this._outboxOffset);
    if (points === 0) return;
    if (this.waiting === 0) this._headToEnd();
    else if (cursor.number === state.finishedBelow) this._headToCursor();
    else this._passSectors();
    this._writeStatus(kind, state.finishedBelow, kind === DONE ? 0 : points);
  }

  /** Notes that `drops` dropped points in total were reported to the platform. */
  reported(drops: number): void {
    applyStatus(this.state, REPORTED, drops);
    this._writeStatus(REPORTED, drops, 0);
  }

  /**
   * Goes back, so that the next `step` reaches the first waiting point. Unreadable points below
   * `limit` are dropped; later points are also in memory. False if the host cannot read now and
   * `isPatient` is true.
   */
  rewind(limit: number, isPatient: boolean): boolean {
    const { state, _cursor: cursor, _resumeAt: resumeAt } = this;
    // Without the newest sector, the positions of the points are unknown.
    if (this._isUnread && !this._readAgain() && state.finishedBelow < limit) {
      if (!isPatient) this._drop(UNREADABLE, limit, state.sequence, this._tail);
      this._cursorToHead();
      return !isPatient;
    }
    this._cursorToHead();
    while (state.finishedBelow < limit) {
      if (cursor.number > state.finishedBelow) moveTo(resumeAt, cursor.sequence, cursor.at, cursor.number);
      else {
        const found = this._advance();
        if (found === "unread" && isPatient) {
          this._cursorToHead();
          return false;
        }
        if (found === "point" && cursor.number <= state.finishedBelow) continue;
        if (found === "point") {
          this.back();
          this._headToCursor();
          return true;
        }
      }
      const { number, sequence, at } = resumeAt;
      this._drop(UNREADABLE, Math.min(limit, number), sequence, at, number);
      this._cursorToHead();
    }
    this._cursorToHead();
    return true;
  }

  /** Goes to the next point. False at the end and before an unreadable range. */
  step(): boolean {
    return this._advance() === "point";
  }

  /** Goes back to before the current point. */
  back(): void {
    this._cursor.at = this.at;
    this._cursor.number--;
  }

  /**
   * Forgets all points and erases every used sector; false if one could not be erased. The newest
   * goes last, because its header says that no point in the others is waiting.
   */
  forget(): boolean {
    const { state } = this;
    this.finish(DONE, state.next + this._outboxOffset);
    const newest = this._at(state.sequence);
    let isErased = true;
    for (let i = 1; i <= this._sectorCount; i++) {
      const at = (newest + i * this._sectorSize) % (this._sectorCount * this._sectorSize);
      // An interrupted erase may leave only bytes after the header, so check the whole sector.
      this._loaded = 0;
      if (this._read(at, this.bytes) && this._isBlank(this.bytes, this.words)) continue;
      if (!this._blocks.erase(at)) isErased = false;
    }
    state.sequence = 0;
    state.reported = 0;
    this._anchor(0, this._sectorCount - 1);
    this._tail = this._sectorSize;
    this._firstInNewest = state.next;
    this._freeAfter = -1;
    this._followed = -1;
    this._headless = -1;
    this._skipped = 0;
    this._isUnread = false;
    this.failed = !isErased;
    this.dirty = false;
    this.unsavedDrops = 0;
    this._headToEnd();
    return isErased;
  }

  /**
   * Opens the next sector if it is free; its header holds the full state. If that fails, tries one
   * sector after it, another one each time. So a single bad sector is skipped, and none is skipped
   * for good when all fail for a while.
   */
  openNext(): boolean {
    if (this._isUnread && !this._readAgain()) return this._fail();
    const next = this.state.sequence + 1;
    if (!this._isFree(next)) return false;
    if (this._open(next)) return true;
    this._skipped++;
    if (!this._isFree(next + this._skipped)) this._skipped = 1;
    return (this._isFree(next + this._skipped) && this._open(next + this._skipped)) || this._fail();
  }

  private _open(sequence: number): boolean {
    const { state } = this;
    const at = this._at(sequence);
    invariant(
      "an erased sector holds no waiting point",
      () => this.waiting === 0 || sequence - this._sectorCount < this._head.sequence,
    );
    if (!this._blocks.erase(at)) return false;
    const before = state.sequence;
    state.sequence = sequence;
    putOpening(this._opening, state, this.generation);
    if (!this._blocks.write(at, this._opening.bytes)) {
      state.sequence = before;
      return false;
    }
    this.failed = false;
    this.dirty = false;
    this.unsavedDrops = 0;
    this._skipped = 0;
    this._loaded = 0;
    this._tail = OPENING_BYTES;
    this._firstInNewest = state.next;
    if (this.waiting === 0) this._headToEnd();
    return true;
  }

  /** Appends nothing after a record that may be half-written. */
  private _fail(): false {
    this._tail = this._sectorSize;
    this.failed = true;
    return false;
  }

  private _write(bytes: Uint8Array): boolean {
    const { sequence } = this.state;
    if (!this._blocks.write(this._at(sequence) + this._tail, bytes)) return this._fail();
    // The newest points are still in memory and are not read from flash soon.
    if (this._loaded === sequence) this._loaded = 0;
    this._tail += bytes.length;
    return true;
  }

  /** The entry stands for `drops` more dropped points. */
  private _writeStatus(kind: number, number: number, drops: number): void {
    putStatus(this._status, this.state, kind, number);
    const isWritten = this.room >= STATUS_BYTES && this._write(new Uint8Array(this._status.buffer));
    if (isWritten) return;
    this.unsavedDrops += drops;
    this.dirty = true;
    if (!this.failed) this.openNext();
  }

  /**
   * Drops points below `number` and moves the head to `at` in `sequence`, where the next point is
   * number `numberThere`.
   */
  private _drop(kind: number, number: number, sequence: number, at: number, numberThere = number): void {
    moveTo(this._head, sequence, at, numberThere);
    const points = applyStatus(this.state, kind, number);
    if (this.waiting === 0) this._headToEnd();
    if (points > 0) this._writeStatus(kind, this.state.finishedBelow, points);
  }

  // Reading.

  /**
   * Goes to the next point. On "gap", or on "unread" if the host cannot read, the cursor stays and
   * `_resumeAt` says where reading can continue.
   */
  private _advance(): "point" | "gap" | "unread" | "end" {
    const { state, words, _cursor: cursor, _resumeAt: resumeAt } = this;
    for (;;) {
      const isNewest = cursor.sequence === state.sequence;
      const end = isNewest ? state.next : this._endOf(cursor.sequence);
      if (cursor.number >= state.next) return "end";
      const isDue = cursor.number < end;
      const isRead = isDue && this._load(cursor.sequence);
      const length = isRead ? this._lengthAt(cursor.at) : 0;
      if (length > 0) {
        this.at = cursor.at;
        cursor.at += length;
        this.end = this.at + lengthOf(words, this.at);
        if (!isPoint(words, this.at)) continue;
        cursor.number++;
        return "point";
      }
      const intact = isRead ? this._findIntact(cursor.at) : -1;
      const number = intact < 0 ? end : numberAt(words, intact, cursor.number, intact - cursor.at);
      if (intact >= 0 && number === cursor.number) cursor.at = intact;
      else if (intact >= 0 && number !== undefined && number < end) {
        moveTo(resumeAt, cursor.sequence, intact, number);
        return "gap";
      } else {
        if (isNewest) moveTo(resumeAt, cursor.sequence, this._tail, end);
        else moveTo(resumeAt, this._follower, HEADER_BYTES, end);
        if (isDue) return isRead ? "gap" : "unread";
        moveTo(cursor, resumeAt.sequence, resumeAt.at, resumeAt.number);
      }
    }
  }

  /** Number of the first point after sector `sequence`, which must not be the newest. */
  private _endOf(sequence: number): number {
    if (this._followed !== sequence) {
      this._followed = sequence;
      this._follower = this._nextHeaded(sequence);
      this._followerFirst = this._firstIn(this._follower);
    }
    return this._followerFirst;
  }

  private _cursorToHead(): void {
    const { sequence, at, number } = this._head;
    moveTo(this._cursor, sequence, at, number);
  }

  private _headToCursor(): void {
    const { sequence, at, number } = this._cursor;
    moveTo(this._head, sequence, at, number);
  }

  private _headToEnd(): void {
    moveTo(this._head, this.state.sequence, this._tail, this.state.next);
  }

  /** Moves the head over sectors whose last points were sent from memory. */
  private _passSectors(): void {
    const { finishedBelow, sequence } = this.state;
    for (let next = this._head.sequence + 1; next <= sequence; next++) {
      const first = this._firstIn(next);
      if (first > finishedBelow) return;
      if (first >= 0) moveTo(this._head, next, HEADER_BYTES, first);
    }
  }

  /**
   * The next sector after `sequence` that has a header. Skipped sectors have no header of this
   * round.
   */
  private _nextHeaded(sequence: number): number {
    let next = sequence + 1;
    while (next < this.state.sequence && this._firstIn(next) < 0) next++;
    return next;
  }

  /** True if no waiting point is in the sector that will become number `next`. */
  private _isFree(next: number): boolean {
    const before = next - this._sectorCount;
    if (before >= this.state.sequence) return false;
    if (this.waiting === 0 || before < this._head.sequence) return true;
    const headed = this._nextHeaded(before);
    const first = this._firstIn(headed);
    if (first > this.state.finishedBelow) return false;
    moveTo(this._head, headed, HEADER_BYTES, first);
    return true;
  }

  /** Number of the first point in sector `sequence`; -1 if its header is missing. */
  private _firstIn(sequence: number): number {
    if (sequence === this.state.sequence) return this._firstInNewest;
    if (sequence === this._headless) return this._firstInHeadless;
    const { _header: header } = this;
    const isThere = sequence > 0 && this._readHeader(this._at(sequence)) && sequenceOf(header) === sequence;
    return isThere ? firstOf(header) : -1;
  }

  /** Reads the header of the sector at `at`, or its copy, into `_header`. */
  private _readHeader(at: number): boolean {
    return this._read(at, this._header) && this._hasHeader(at);
  }

  /** The same, when `_header` already holds the first bytes of the sector. */
  private _hasHeader(at: number): boolean {
    const { _header: header } = this;
    if (isIntactHeader(header)) return true;
    return !this._isHeaderBlank && this._read(at + COPY_AT, header) && isIntactHeader(header);
  }

  private get _isHeaderBlank(): boolean {
    return this._isBlank(this._header, this._headerWords);
  }

  /** True if nothing was written from byte `from` (word-aligned) on. */
  private _isBlank(bytes: Uint8Array, words: Int32Array, from = 0): boolean {
    return this._loops ? this._loops.isErased(bytes, from) : isBlank(words, from);
  }

  /** Byte offset of a sector. */
  private _at(sequence: number): number {
    return ((sequence + this._shift) % this._sectorCount) * this._sectorSize;
  }

  /** Anchors the numbering: sector `sequence` is at `index`, the next one after it, and so on. */
  private _anchor(sequence: number, index: number): void {
    this._shift = (index - (sequence % this._sectorCount) + this._sectorCount) % this._sectorCount;
  }

  /** Fills `into` from `at`. False if the host failed three times. */
  private _read(at: number, into: Uint8Array): boolean {
    for (let tries = 0; tries < READ_TRIES; tries++) if (this._blocks.read(at, into)) return true;
    return false;
  }

  /** Reads sector `sequence` into `bytes`. False if the host could not read it. */
  private _load(sequence: number): boolean {
    if (this._loaded === sequence) return true;
    this._loaded = 0;
    if (!this._read(this._at(sequence), this.bytes)) return false;
    this._loaded = sequence;
    this._intactTo = 0;
    return true;
  }

  /** Upper limit for the end of the records in `bytes`. */
  private get _limit(): number {
    return this._loaded === this.state.sequence ? this._tail : this._sectorSize;
  }

  /** Padded length of the intact record at `at` in `bytes`; 0 if there is none. */
  private _lengthAt(at: number): number {
    const { words } = this;
    if (at >= this._intactFrom && at < this._intactTo) return padded(lengthOf(words, at));
    const length = intactLength(words, at, this._limit, this._loaded);
    if (length === 0) return 0;
    if (at !== this._intactTo) this._intactFrom = at;
    this._intactTo = at + length;
    return length;
  }

  private _findIntact(at: number): number {
    return findIntact(this.words, at, this._limit, this._loaded);
  }

  // Recovery at the start.

  private _recover(mark: HighWaterMark, { index, isFound, isRead }: Scan): void {
    const { state, words } = this;
    const newest = isRead ? state.sequence : 0;
    // The next header must contain points and drops that flash does not know of.
    const hasMissing = mark.addTo(state, isRead ? generationOf(words, newest) : 0, isRead);
    this.dirty = hasMissing || this.lost.unreadable > 0;
    if (this.dirty || this._isUnread) this._tail = this._sectorSize;
    this.generation = mark.generation;
    const { full, refused, unreadable } = state;
    this._atStart = { isFound, newest, full, refused, unreadable };
    if (!isRead && !isFound) {
      this._anchor(state.sequence, index);
      this._firstInNewest = state.finishedBelow;
    }
    this._findHead();
    this.rewind(state.next, true);
    if (this.dirty && !this.failed) this.openNext();
    this.lost.full = state.full - full;
    this.lost.unreadable += mark.lost + state.unreadable - unreadable;
  }

  /** Reads the state of the newest sector and its records. */
  private _scan(): Scan {
    const { state } = this;
    const index = this._findNewest();
    const isFound = state.sequence > 0;
    this._anchor(state.sequence, index);
    const hasState = isFound && this._readHeader(index * this._sectorSize);
    if (hasState) readHeader(this._header, state);
    this._firstInNewest = state.next;
    let isRead = isFound && this._load(state.sequence);
    if (isRead) this._replay();
    if (isFound && !(hasState && isRead)) this._isUnread = true;
    while (this._hasHeadless) {
      this._headless = ++state.sequence;
      this._firstInHeadless = state.next;
      this._firstInNewest = state.next;
      this._replay();
      this._tail = this._sectorSize;
      isRead = true;
    }
    return { index, isFound, isRead };
  }

  /**
   * Tries the sectors again, because one could not be read at the start. If the store failed as
   * well, flash may hold points and drops that the mark does not contain: they are counted, and
   * points that wait in a sector not seen before count as unreadable. False if nothing can be read.
   */
  private _readAgain(): boolean {
    const { state } = this;
    const again = new FlashLog(this._blocks, this._dropOldest, this._loops);
    const { isRead } = again._scan();
    const found = again.state;
    if (found.sequence === 0 && again._isUnread) return false;
    this._isUnread = false;
    if (found.sequence <= this._atStart.newest) return true;
    const generation = isRead ? generationOf(again.words, found.sequence) : 0;
    const isCovered = this._covers(found, generation);
    const drops = dropsOf(state);
    this._mergeState(found, isCovered);
    this.dirty = true;
    this.unsavedDrops += dropsOf(state) - drops;
    this._takePositions(again, isCovered);
    return true;
  }

  /**
   * True if the waiting points of a queue `found` later keep their numbers and can be delivered:
   * the mark contains them, and none needs a boot epoch that was not known at the start.
   */
  private _covers(found: LogState, generation: number): boolean {
    const { state } = this;
    const isSame = this._atStart.isFound || (generation !== 0 && generation === this.generation);
    const isTimed = found.epoch === state.epoch && found.tick === state.tick;
    return isSame && isTimed && found.next <= state.next;
  }

  /** Adds what a queue `found` later knows. Its waiting points are dropped unless `isCovered`. */
  private _mergeState(found: LogState, isCovered: boolean): void {
    const { state, _atStart: start } = this;
    const next = Math.max(state.next, found.next);
    this._outboxOffset -= next - state.next;
    state.next = next;
    applyStatus(state, DONE, found.finishedBelow);
    if (!isCovered) applyStatus(state, UNREADABLE, next);
    state.full += Math.max(0, found.full - start.full);
    state.refused += Math.max(0, found.refused - start.refused);
    state.unreadable += Math.max(0, found.unreadable - start.unreadable);
    if (found.epoch > state.epoch) Object.assign(state, { epoch: found.epoch, tick: found.tick });
    state.lastStamp = Math.max(state.lastStamp, found.lastStamp);
    state.sequence = Math.max(state.sequence, found.sequence);
  }

  /** Finds the sectors, and the waiting points if `isCovered`, where `again` found them. */
  private _takePositions(again: FlashLog, isCovered: boolean): void {
    const { state } = this;
    const { sequence } = again.state;
    const index = again._at(sequence) / this._sectorSize + state.sequence - sequence;
    this._anchor(state.sequence, index % this._sectorCount);
    this._loaded = 0;
    this._followed = -1;
    this._freeAfter = -1;
    this._headless = isCovered ? again._headless : -1;
    this._firstInHeadless = again._firstInHeadless;
    if (isCovered && sequence === state.sequence) this._firstInNewest = again._firstInNewest;
    if (isCovered) this._findHead();
    else this._headToEnd();
    this._cursorToHead();
  }

  /** Sets `state.sequence` to the newest sector, or 0 if there is none. Returns its index. */
  private _findNewest(): number {
    const { state, _header: header } = this;
    let newest = 0;
    let index = this._sectorCount - 1;
    // A single one is the very first header, interrupted while it was written.
    let foreign = 0;
    // From last to first: most headers are older than one already seen and need no checksum.
    for (let i = this._sectorCount - 1; i >= 0; i--) {
      if (!this._read(i * this._sectorSize, header)) {
        this._isUnread = true;
        continue;
      }
      if (isHeader(header) && sequenceOf(header) <= newest) continue;
      if (this._isHeaderBlank) continue;
      if (!this._hasHeader(i * this._sectorSize)) foreign++;
      else if (sequenceOf(header) > newest) {
        newest = sequenceOf(header);
        index = i;
      }
    }
    // The newest sector's sequence number may be damaged, so check the sector after it.
    const after = (index + 1) % this._sectorCount;
    if (this._readHeader(after * this._sectorSize) && sequenceOf(header) > newest) {
      newest = sequenceOf(header);
      index = after;
    }
    this.wasForeign = newest === 0 && foreign > 1;
    state.sequence = newest;
    return index;
  }

  /** True if the sector after the newest continues its records but has no readable header. */
  private get _hasHeadless(): boolean {
    const { state, words } = this;
    const sequence = state.sequence + 1;
    const sector = this._at(sequence);
    if (this._readHeader(sector) || this._isHeaderBlank || !this._load(sequence)) return false;
    const at = findIntact(words, HEADER_BYTES, this._sectorSize, sequence);
    if (at < 0) return false;
    return numberAt(words, at, state.next, at - HEADER_BYTES) !== undefined;
  }

  /** Applies the records of the newest sector and finds the place for the next one. */
  private _replay(): void {
    const { state, words } = this;
    const { sequence } = state;
    let at = HEADER_BYTES;
    let isDamaged = false;
    let isWhole = false;
    for (;;) {
      const length = intactLength(words, at, this._sectorSize, sequence);
      if (length > 0) {
        applyRecords(state, words, at, at + length);
        if (isDamaged) correctDrops(state, words, at);
        at += length;
        continue;
      }
      isWhole = this._isBlank(this.bytes, words, at);
      const intact = isWhole ? -1 : findIntact(words, at, this._sectorSize, sequence);
      if (intact < 0) break;
      const gap = intact - at;
      state.next = numberAt(words, intact, state.next, gap) ?? state.next + mostPoints(gap);
      isDamaged = true;
      at = intact;
    }
    // The record here was interrupted while it was written or damaged later. Its bytes are spent.
    if (!isWhole && mayBePoint(this.bytes, words, at)) {
      state.unreadable++;
      this.lost.unreadable++;
    }
    this._tail = isWhole && !isDamaged ? at : this._sectorSize;
  }

  private _findHead(): void {
    const { state } = this;
    if (this.waiting === 0) {
      this._headToEnd();
      return;
    }
    // Skip sectors without a header: they were skipped when opened, or their header is damaged.
    let oldest = state.sequence;
    let first = this._firstInNewest;
    for (
      let at = oldest - 1;
      at > 0 && at > state.sequence - this._sectorCount && first > state.finishedBelow;
      at--
    ) {
      const found = this._firstIn(at);
      if (found < 0) continue;
      oldest = at;
      first = found;
    }
    // A sector was erased for room, and power failed before the next header recorded that.
    const kind = this._dropOldest ? FULL : UNREADABLE;
    if (first > state.finishedBelow) this._drop(kind, first, oldest, HEADER_BYTES);
    else moveTo(this._head, oldest, HEADER_BYTES, first);
  }
}
