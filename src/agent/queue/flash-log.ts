// The durable queue: a log of records over raw sectors.
//
// A sector is erased, gets a header with all that is known at that moment, then records until it is
// full; then comes the next one round. Points are records; that points are delivered or dropped is a
// record too (a status entry). Every byte is written once between two erases. The sector behind the
// newest holds no point that waits (else the oldest go, or the new one is refused): so status entries
// find room, and no erase takes a point that is wanted.
//
// Points have numbers in one row. Where numbers are missing, because records are damaged or a sector is
// gone, their points are dropped as unreadable when their turn comes.
import type { Blocks } from "../../port.js";
import {
  applyRecords,
  applyStatus,
  COPY_AT,
  correctDrops,
  DONE,
  emptyState,
  FULL,
  findSound,
  firstOf,
  generationOf,
  HEADER_BYTES,
  isBlank,
  isHeader,
  isPoint,
  isSound,
  type LogState,
  lengthOf,
  MAX_RECORD,
  mayBePoint,
  mostPoints,
  numberAt,
  OPENING_BYTES,
  putOpening,
  putStatus,
  REPORTED,
  type Records,
  readHeader,
  STATUS_BYTES,
  seal,
  sequenceOf,
  soundLength,
  tagOf,
  UNREADABLE,
  whole,
} from "./record.js";
import type { Witness } from "./witness.js";

const LEAST_SECTOR = 512;
/** A read that fails once may be a bus that was disturbed; points are not given up for that. */
const READS = 3;

/** A place in the sectors: the point `number` or one behind it is the next from there. */
interface Place {
  sequence: number;
  at: number;
  number: number;
}

const moveTo = (place: Place, sequence: number, at: number, number: number): void => {
  place.sequence = sequence;
  place.at = at;
  place.number = number;
};

export class FlashLog implements Records {
  readonly state: LogState = emptyState();
  /** The sector read last. */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** The point that `step` came to, in `bytes`. */
  at = 0;
  end = 0;
  /** A write or an erase failed, and no sector was opened since: points stay in memory. */
  failed = false;
  /** `state` holds what neither a record nor a header says: the next header will. */
  dirty = false;
  /** Of this queue; 0 until a sector is opened. */
  generation = 0;
  /** The blocks held something that is no queue. */
  wasStrange = false;
  /** Points that were found missing at the start, at most: they are counted in `state`. */
  readonly lost = { full: 0, unreadable: 0 };
  private readonly _blocks: Blocks;
  private readonly _size: number;
  private readonly _count: number;
  private readonly _dropOldest: boolean;
  /** The header read last. */
  private readonly _header = new Uint8Array(HEADER_BYTES);
  private readonly _headerWords = new Int32Array(this._header.buffer);
  private readonly _opening: Records;
  private readonly _status = new Int32Array(STATUS_BYTES / 4);
  /** The sector of number `sequence` lies at `(sequence + _shift) % _count`. */
  private _shift = 0;
  /** Where the next record goes in the newest sector; its size: nowhere. */
  private _tail: number;
  /** Number of the first point in the newest sector. */
  private _first = 0;
  /** The sector that was the newest at the start though its header is damaged, and the number of its first point; -1: none. */
  private _headless = -1;
  private _headlessFirst = 0;
  /** So many sectors behind the newest were passed over at the last try to open one. */
  private _passed = 0;
  /** The sector behind this one holds nothing that waits, as long as this one is the newest. */
  private _freeBehind = -1;
  /** The first point waiting. */
  private readonly _head: Place = { sequence: 1, at: HEADER_BYTES, number: 0 };
  private readonly _cursor: Place = { sequence: 1, at: HEADER_BYTES, number: 0 };
  /** Where reading goes on behind what can't be read. */
  private readonly _behind: Place = { sequence: 1, at: HEADER_BYTES, number: 0 };
  /** A point's number for the outbox minus its number here: points that never were here have none. */
  private _ahead = 0;
  /** The sector in `bytes`; 0: none. The records in this range were found intact since it was read. */
  private _loaded = 0;
  private _soundFrom = 0;
  private _soundTo = 0;
  /** The sector that is read, the one that follows it, and the number of the first point in that. */
  private _followed = -1;
  private _follower = 0;
  private _followerFirst = 0;

  /**
   * Finds what is in the sectors. `witness` says what should be there: what is missing is counted as
   * unreadable, at once or when its turn comes. Undefined if the blocks are too small for a queue.
   */
  static open(blocks: Blocks, dropOldest: boolean, witness: Witness): FlashLog | undefined {
    const fits = blocks.sectorSize >= LEAST_SECTOR && blocks.sectorSize % 4 === 0;
    if (!fits || blocks.size < 2 * blocks.sectorSize) return undefined;
    const log = new FlashLog(blocks, dropOldest);
    log._recover(witness);
    return log;
  }

  private constructor(blocks: Blocks, dropOldest: boolean) {
    this._blocks = blocks;
    this._size = blocks.sectorSize;
    this._count = Math.floor(blocks.size / blocks.sectorSize);
    this._tail = this._size;
    this._dropOldest = dropOldest;
    this.bytes = new Uint8Array(this._size);
    this.words = new Int32Array(this.bytes.buffer);
    const opening = new Uint8Array(OPENING_BYTES);
    this._opening = { bytes: opening, words: new Int32Array(opening.buffer) };
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    return this.state.next - this.state.confirmed;
  }

  /** The part of the sectors that holds points waiting. */
  get fill(): number {
    return this.waiting === 0 ? 0 : (this.state.sequence - this._head.sequence + 1) / this._count;
  }

  /** The number of the first point waiting, for the outbox. */
  get first(): number {
    return this.state.confirmed + this._ahead;
  }

  /** Longest record. */
  get most(): number {
    return Math.min(this._size - OPENING_BYTES, MAX_RECORD);
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this._size - this._tail;
  }

  /** No point has a number from here on before the next sector is opened. */
  get bound(): number {
    return this.state.next + mostPoints(this.room);
  }

  /** Makes room for a record of `length` bytes. False: full and the oldest points stay, or no write works. */
  place(length: number): boolean {
    if (this._freeBehind === this.state.sequence && length <= this.room) return true;
    while (!this.failed) {
      const next = this.state.sequence + 1;
      if (this._isFree(next)) {
        this._freeBehind = this.state.sequence;
        if (length <= this.room) return true;
        this.openNext();
      } else if (this._dropOldest) {
        const oldest = this._headedBehind(next - this._count);
        this._drop(FULL, this._firstIn(oldest), oldest, HEADER_BYTES);
      } else return false;
    }
    return false;
  }

  /** Appends the records from `from` to `to`, for which `place` and `room` have found room; the first is point `number` of the outbox. False if they are not on flash. */
  append({ bytes, words }: Records, from: number, to: number, number: number): boolean {
    const { state } = this;
    this._ahead = number - state.next;
    seal(words, from, to, state.sequence, state.next);
    if (!this._write(bytes.subarray(from, to))) return false;
    applyRecords(state, words, from, to);
    return true;
  }

  /** After a failure: opens the next sector, whose header holds the whole state. False if that failed as well. */
  retry(): boolean {
    this.failed = false;
    this.place(STATUS_BYTES);
    return !this.failed;
  }

  /** `points` were dropped that never were on flash. The next header says so. */
  count(points: number, reason: "full" | "refused"): void {
    this.state[reason] += points;
    if (this.failed) this.dirty = true;
  }

  /** All points below `number` of the outbox are dealt with: `kind` is DONE or REFUSED. */
  finish(kind: number, number: number): void {
    const { state, _cursor: cursor } = this;
    if (applyStatus(state, kind, number - this._ahead) === 0) return;
    if (this.waiting === 0) this._headToEnd();
    else if (cursor.number === state.confirmed) this._keepHead();
    else this._passSectors();
    this._writeStatus(kind, state.confirmed);
  }

  /** `drops` in all were reported to the platform. */
  reported(drops: number): void {
    applyStatus(this.state, REPORTED, drops);
    this._writeStatus(REPORTED, drops);
  }

  /**
   * The next `step` comes to the first point waiting. Points that can't be read are dropped, below
   * `limit`: the others are in memory. False if the host can't read now, and `isPatient`.
   */
  rewind(limit: number, isPatient: boolean): boolean {
    const { state, _cursor: cursor, _behind: behind } = this;
    this._toHead();
    while (state.confirmed < limit) {
      if (cursor.number > state.confirmed) moveTo(behind, cursor.sequence, cursor.at, cursor.number);
      else {
        const found = this._advance();
        if (found === "unread" && isPatient) {
          this._toHead();
          return false;
        }
        if (found === "point" && cursor.number <= state.confirmed) continue;
        if (found === "point") {
          this.back();
          this._keepHead();
          return true;
        }
      }
      this._drop(UNREADABLE, Math.min(limit, behind.number), behind.sequence, behind.at, behind.number);
      this._toHead();
    }
    this._toHead();
    return true;
  }

  /** Goes to the next point. False at the end, and before what can't be read. */
  step(): boolean {
    return this._advance() === "point";
  }

  /** Goes back before the point that `step` came to. */
  back(): void {
    this._cursor.at = this.at;
    this._cursor.number--;
  }

  /** Forgets all points, and erases every sector that was used, the newest last: it says that nothing waits in the others. False if one stays. */
  forget(): boolean {
    const { state } = this;
    this.finish(DONE, state.next + this._ahead);
    const newest = this._at(state.sequence);
    let isGone = true;
    for (let i = 1; i <= this._count; i++) {
      const at = (newest + i * this._size) % (this._count * this._size);
      // An erase that was cut may have left nothing but what stood behind the header.
      this._loaded = 0;
      if (this._read(at, this.bytes) && isBlank(this.words)) continue;
      if (!this._blocks.erase(at)) isGone = false;
    }
    state.sequence = 0;
    state.reported = 0;
    this._anchor(0, this._count - 1);
    this._tail = this._size;
    this._first = state.next;
    this._freeBehind = -1;
    this._followed = -1;
    this._headless = -1;
    this._passed = 0;
    this.failed = !isGone;
    this.dirty = false;
    this._headToEnd();
    return isGone;
  }

  /**
   * Opens the next sector, if it is free: its header says what no record does. If it can't be opened,
   * one behind it is tried instead, each time another: a bad sector is passed over, and where all fail
   * for a while none is.
   */
  openNext(): boolean {
    const next = this.state.sequence + 1;
    if (!this._isFree(next)) return false;
    if (this._open(next)) return true;
    this._passed++;
    if (!this._isFree(next + this._passed)) this._passed = 1;
    return (this._isFree(next + this._passed) && this._open(next + this._passed)) || this._fail();
  }

  private _open(sequence: number): boolean {
    const { state } = this;
    const at = this._at(sequence);
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
    this._passed = 0;
    this._loaded = 0;
    this._tail = OPENING_BYTES;
    this._first = state.next;
    if (this.waiting === 0) this._headToEnd();
    return true;
  }

  /** Nothing is appended behind what may be half a record. */
  private _fail(): false {
    this._tail = this._size;
    this.failed = true;
    return false;
  }

  private _write(bytes: Uint8Array): boolean {
    const { sequence } = this.state;
    if (!this._blocks.write(this._at(sequence) + this._tail, bytes)) return this._fail();
    // What is written now is in memory: it is not soon read.
    if (this._loaded === sequence) this._loaded = 0;
    this._tail += bytes.length;
    return true;
  }

  private _writeStatus(kind: number, number: number): void {
    putStatus(this._status, this.state, kind, number);
    const isWritten = this.room >= STATUS_BYTES && this._write(new Uint8Array(this._status.buffer));
    if (isWritten) return;
    this.dirty = true;
    if (!this.failed) this.openNext();
  }

  /** Drops what waits below `number`; the head goes to `at` of `sequence`, where the next point has the number `there`. */
  private _drop(kind: number, number: number, sequence: number, at: number, there = number): void {
    moveTo(this._head, sequence, at, there);
    const points = applyStatus(this.state, kind, number);
    if (this.waiting === 0) this._headToEnd();
    if (points > 0) this._writeStatus(kind, this.state.confirmed);
  }

  // Reading.

  /** Goes to the next point; `gap`, and `unread` if the host can't read: reading goes on at `_behind`, the cursor stays. */
  private _advance(): "point" | "gap" | "unread" | "end" {
    const { state, words, _cursor: cursor, _behind: behind } = this;
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
      const sound = isRead ? this._findSound(cursor.at) : -1;
      const number = sound < 0 ? end : numberAt(words, sound, cursor.number, sound - cursor.at);
      if (sound >= 0 && number === cursor.number) cursor.at = sound;
      else if (sound >= 0 && number !== undefined && number < end) {
        moveTo(behind, cursor.sequence, sound, number);
        return "gap";
      } else {
        if (isNewest) moveTo(behind, cursor.sequence, this._tail, end);
        else moveTo(behind, this._follower, HEADER_BYTES, end);
        if (isDue) return isRead ? "gap" : "unread";
        moveTo(cursor, behind.sequence, behind.at, behind.number);
      }
    }
  }

  /** The number of the first point behind sector `sequence`, which is not the newest. */
  private _endOf(sequence: number): number {
    if (this._followed !== sequence) {
      this._followed = sequence;
      this._follower = this._headedBehind(sequence);
      this._followerFirst = this._firstIn(this._follower);
    }
    return this._followerFirst;
  }

  private _toHead(): void {
    const { sequence, at, number } = this._head;
    moveTo(this._cursor, sequence, at, number);
  }

  private _keepHead(): void {
    const { sequence, at, number } = this._cursor;
    moveTo(this._head, sequence, at, number);
  }

  private _headToEnd(): void {
    moveTo(this._head, this.state.sequence, this._tail, this.state.next);
  }

  /** What was sent from memory may have been the last of its sector. */
  private _passSectors(): void {
    const { confirmed, sequence } = this.state;
    for (let next = this._head.sequence + 1; next <= sequence; next++) {
      const first = this._firstIn(next);
      if (first > confirmed) return;
      if (first >= 0) moveTo(this._head, next, HEADER_BYTES, first);
    }
  }

  /** The next sector behind `sequence` that has a header: one that was passed over has none of this round. */
  private _headedBehind(sequence: number): number {
    let next = sequence + 1;
    while (next < this.state.sequence && this._firstIn(next) < 0) next++;
    return next;
  }

  /** The place of the sector that will be number `next` holds nothing that waits. */
  private _isFree(next: number): boolean {
    const before = next - this._count;
    if (before >= this.state.sequence) return false;
    if (this.waiting === 0 || before < this._head.sequence) return true;
    const behind = this._headedBehind(before);
    const first = this._firstIn(behind);
    if (first > this.state.confirmed) return false;
    moveTo(this._head, behind, HEADER_BYTES, first);
    return true;
  }

  /** Number of the first point in sector `sequence`; -1 if its header is not there. */
  private _firstIn(sequence: number): number {
    if (sequence === this.state.sequence) return this._first;
    if (sequence === this._headless) return this._headlessFirst;
    const { _header: header } = this;
    const isThere = sequence > 0 && this._readHeader(this._at(sequence)) && sequenceOf(header) === sequence;
    return isThere ? firstOf(header) : -1;
  }

  /** Brings the header of the sector at `at`, or its copy, to `_header`. */
  private _readHeader(at: number): boolean {
    return this._read(at, this._header) && this._hasHeader(at);
  }

  /** The same when `_header` holds the first bytes of the sector. */
  private _hasHeader(at: number): boolean {
    const { _header: header } = this;
    if (isSound(header)) return true;
    return !isBlank(this._headerWords) && this._read(at + COPY_AT, header) && isSound(header);
  }

  /** Byte position of a sector. */
  private _at(sequence: number): number {
    return ((sequence + this._shift) % this._count) * this._size;
  }

  /** The sector with number `sequence` lies at `index`, the next one behind it, and so on round. */
  private _anchor(sequence: number, index: number): void {
    this._shift = (index - (sequence % this._count) + this._count) % this._count;
  }

  /** Fills `into` from `at`. False if the host could not, three times. */
  private _read(at: number, into: Uint8Array): boolean {
    for (let tries = 0; tries < READS; tries++) if (this._blocks.read(at, into)) return true;
    return false;
  }

  /** Brings sector `sequence` to `bytes`. False if the host could not read it. */
  private _load(sequence: number): boolean {
    if (this._loaded === sequence) return true;
    this._loaded = 0;
    if (!this._read(this._at(sequence), this.bytes)) return false;
    this._loaded = sequence;
    this._soundTo = 0;
    return true;
  }

  /** Where the records of the sector in `bytes` end at the latest. */
  private get _limit(): number {
    return this._loaded === this.state.sequence ? this._tail : this._size;
  }

  /** The length of the intact record at `at` in `bytes`, its last word filled; 0 if there is none. */
  private _lengthAt(at: number): number {
    const { words } = this;
    if (at >= this._soundFrom && at < this._soundTo) return whole(lengthOf(words, at));
    const length = soundLength(words, at, this._limit, this._loaded);
    if (length === 0) return 0;
    if (at !== this._soundTo) this._soundFrom = at;
    this._soundTo = at + length;
    return length;
  }

  private _findSound(at: number): number {
    return findSound(this.words, at, this._limit, this._loaded);
  }

  // At the start.

  private _recover(witness: Witness): void {
    const { state, words } = this;
    const index = this._findNewest();
    const isFound = state.sequence > 0;
    this._anchor(state.sequence, index);
    if (isFound && this._readHeader(index * this._size)) readHeader(this._header, state);
    this._first = state.next;
    let isRead = isFound && this._load(state.sequence);
    if (isRead) this._replay();
    while (this._hasHeadless) {
      this._headless = ++state.sequence;
      this._headlessFirst = state.next;
      this._first = state.next;
      this._replay();
      this._tail = this._size;
      isRead = true;
    }
    // Points that flash has not, and drops that it does not say: the next header does.
    const isNews = witness.addTo(state, isRead ? generationOf(words, state.sequence) : 0, isRead);
    this.dirty = isNews || this.lost.unreadable > 0;
    if (this.dirty) this._tail = this._size;
    this.generation = witness.generation;
    const { full, unreadable } = state;
    if (!isFound && !isRead) {
      this._anchor(state.sequence, index);
      this._first = state.confirmed;
    }
    this._findHead();
    this.rewind(state.next, true);
    this.lost.full = state.full - full;
    this.lost.unreadable += witness.lost + state.unreadable - unreadable;
    if (this.dirty && !this.failed) this.openNext();
  }

  /** Sets `state.sequence` to that of the newest sector, 0 if there is none; returns its index. */
  private _findNewest(): number {
    const { state, _header: header } = this;
    let newest = 0;
    let index = this._count - 1;
    // One alone is the first header of all, cut while it was written.
    let strange = 0;
    // From the last to the first: most are older than one before, and need no look at their checksum.
    for (let i = this._count - 1; i >= 0; i--) {
      if (!this._read(i * this._size, header)) continue;
      if (isHeader(header) && sequenceOf(header) <= newest) continue;
      const wasBlank = isBlank(this._headerWords);
      if (!this._hasHeader(i * this._size)) strange += wasBlank ? 0 : 1;
      else if (sequenceOf(header) > newest) {
        newest = sequenceOf(header);
        index = i;
      }
    }
    // Its sequence number may be what is damaged in its header.
    const behind = (index + 1) % this._count;
    if (this._readHeader(behind * this._size) && sequenceOf(header) > newest) {
      newest = sequenceOf(header);
      index = behind;
    }
    this.wasStrange = newest === 0 && strange > 1;
    state.sequence = newest;
    return index;
  }

  /** The sector behind the newest has records that go on there, though no header that can be read. */
  private get _hasHeadless(): boolean {
    const { state, words } = this;
    const sequence = state.sequence + 1;
    const sector = this._at(sequence);
    if (this._readHeader(sector) || isBlank(this._headerWords) || !this._load(sequence)) return false;
    const at = findSound(words, HEADER_BYTES, this._size, sequence);
    if (at < 0) return false;
    return tagOf(words, at) === 0 || numberAt(words, at, state.next, at - HEADER_BYTES) !== undefined;
  }

  /** Applies the records of the newest sector, and finds where the next one may go. */
  private _replay(): void {
    const { state, words } = this;
    const { sequence } = state;
    let at = HEADER_BYTES;
    let isDamaged = false;
    for (;;) {
      const length = soundLength(words, at, this._size, sequence);
      if (length > 0) {
        const { confirmed } = state;
        applyRecords(state, words, at, at + length);
        if (isDamaged) correctDrops(state, words, at, confirmed);
        at += length;
        continue;
      }
      const sound = findSound(words, at, this._size, sequence);
      if (sound < 0) break;
      const gap = sound - at;
      state.next = numberAt(words, sound, state.next, gap) ?? state.next + mostPoints(gap);
      isDamaged = true;
      at = sound;
    }
    // A record was cut while it was written, or damaged since. Its bytes can't be written again.
    const isWhole = isBlank(words, at);
    if (!isWhole && mayBePoint(this.bytes, words, at)) {
      state.unreadable++;
      this.lost.unreadable++;
    }
    this._tail = isWhole && !isDamaged ? at : this._size;
  }

  private _findHead(): void {
    const { state } = this;
    if (this.waiting === 0) {
      this._headToEnd();
      return;
    }
    // Sectors without a header are passed over: one was passed over when its turn came, or is damaged.
    let oldest = state.sequence;
    let first = this._first;
    for (let at = oldest - 1; at > 0 && at > state.sequence - this._count && first > state.confirmed; at--) {
      const found = this._firstIn(at);
      if (found < 0) continue;
      oldest = at;
      first = found;
    }
    // A sector that was erased for room when the power failed, before the next header could say so.
    const kind = this._dropOldest ? FULL : UNREADABLE;
    if (first > state.confirmed) this._drop(kind, first, oldest, HEADER_BYTES);
    else moveTo(this._head, oldest, HEADER_BYTES, first);
  }
}
