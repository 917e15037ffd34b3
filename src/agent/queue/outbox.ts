// Points that wait for the platform, first in, first out, each with one number.
//
// Points below `state.stored` are on flash, in the sectors of the durable queue. The others are in
// memory: without a durable queue, while flash fails, and with `durable: false` for up to a second.
// The latest points on flash stay in memory too, which saves reading them.

import { invariant } from "../../invariant.js";
import { HEAD_ROOM } from "../../platform/index.js";
import type { Crc, Host } from "../../port.js";
import { storageLogOf } from "../../store.js";
import { crcBy } from "../../wire/crypto/crc32.js";
import { BEFORE_BYTES, FRAME_BYTES } from "../../wire/telemetry.js";
import type { Timestamp } from "../../wire/timestamp.js";
import type { Time } from "../time/time.js";
import { type TelemetryOptions, type TelemetrySettings, telemetrySettings } from "./options.js";
import { PointBuffer } from "./point-buffer.js";
import {
  type DropReason,
  type Drops,
  dropsOf,
  emptyState,
  finish,
  GIVEN,
  lengthOf,
  POINT,
  POINT_HEAD,
  padded,
  type QueueState,
  recordsIn,
  sizeOf,
} from "./record.js";
import { SectorLog } from "./sector-log.js";
import { type EpochStore, type EpochTime, Stamps } from "./stamps.js";
import { Witness } from "./witness.js";

export const REASONS: readonly DropReason[] = ["full", "refused", "unreadable"];

/** Bytes reserved before a batch's first point: the request head and the start of the body. */
export const BATCH_FRONT = BEFORE_BYTES + HEAD_ROOM;
/** Bytes behind it: a record is read before its text is moved to its place. */
const BATCH_BACK = 12;

/** Unreadable points are dropped after this time. */
const READ_PATIENCE_MS = 60_000;
/** The same in a wake, which is short. */
const WAKE_PATIENCE_MS = 3000;
/** After a failed write: retry at once, then after these delays, then every minute. */
const RETRY_DELAYS_S = [1, 2, 5, 10, 20, 30, 60];
/** While flash fails and memory is full, retry at most this often. */
const URGENT_MS = 1000;
/** Log failures at most once in this time. */
const QUIET_MS = 600_000;
/** While points are only in memory or flash fails, try again to write points, state and witness. */
const TICK_MS = 1000;
/** While flash fails, the witness has room for RESERVE more points. */
const RESERVE = 16;
/** Never block the caller longer than this, however slow the flash is. */
const SYNC_MS = 2000;
/** With `durable: false`, points stay in memory for TICK_MS or up to this many bytes. */
const STAGE_BYTES = 4096;

export class Outbox implements EpochStore {
  readonly settings: TelemetrySettings;
  /**
   * Points in memory, then the request being built. One buffer allows native moves between them.
   */
  readonly bytes: Uint8Array;
  readonly words: Int32Array;
  /** Of records. */
  readonly crc: Crc;
  /** Where the request begins in `bytes`. */
  readonly front: number;
  /** Maximum length of a point's values as text, in bytes. */
  readonly maxText: number;
  readonly stamps: Stamps;
  /**
   * Records are read to here in `bytes`, or behind it; the text before each point lies in front.
   */
  private readonly _area: number;
  private readonly _host: Host;
  private readonly _state: QueueState = emptyState();
  private readonly _buffer: PointBuffer;
  private readonly _witness: Witness;
  private readonly _log: SectorLog | undefined;
  /** `step` continues in memory. */
  private _isInMemory = true;
  private _onDrop: (() => void) | undefined;
  /** Drops that earlier starts counted. */
  counted: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _patienceMs = READ_PATIENCE_MS;
  /** Time since when the host cannot read; undefined while it can. */
  private _unreadableSince: number | undefined;
  /** The same for the time of the first points. */
  private _timeUnreadSince: number | undefined;
  private _timer: (() => void) | undefined;
  /** Index of the next delay, the time when it ends, and the time of the last attempt. */
  private _tries = 0;
  private _dueAt = 0;
  private _triedAt = 0;
  private _isFailureLogged = false;
  /** Something failed since `_checkHealth` found all in order. */
  private _isUnhealthy = false;
  private _loggedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, time: Time, options: TelemetryOptions) {
    this._host = host;
    this.settings = telemetrySettings(options);
    const { bufferBytes, batchBytes } = this.settings;
    this.front = bufferBytes & ~3;
    this.bytes = new Uint8Array(padded(this.front + BATCH_FRONT + batchBytes + BATCH_BACK));
    this.words = new Int32Array(this.bytes.buffer);
    this.crc = crcBy(host);
    this._buffer = new PointBuffer(this, this.front);
    this._witness = new Witness(host);
    this._area = this.front + padded(BEFORE_BYTES);
    const area = recordsIn(this.bytes.subarray(this._area), this.crc);
    if (host.blocks.size > 0) this._log = SectorLog.over(host.blocks, host.loops, this._state, area);
    if (host.blocks.size > 0 && !this._log)
      host.log("error", "the storage is too small for a durable queue: points are kept in memory only");
    const most = this._log ? Math.min(this.front, this._log.most) : this.front;
    this.maxText = Math.min((most & ~3) - POINT_HEAD, batchBytes - FRAME_BYTES);
    this.stamps = new Stamps(host, time, this._state, this);
    this._open();
    // Failures are logged later, as a wake may have to be silent.
    const log = storageLogOf(host);
    log.isSilent = true;
    if (!this._log?.failed) this._checkHealth();
    log.isSilent = false;
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    const { first, count } = this._buffer;
    return first + count - this._state.finished;
  }

  /** Fill level, 0 to 1 (approximate). */
  get fill(): number {
    return this._log && !this._log.failed ? this._log.fill : this._buffer.fill;
  }

  /** The number of the first waiting point. */
  get first(): number {
    return this._state.finished;
  }

  /** The number of the next point. */
  get next(): number {
    return this._buffer.next;
  }

  /** Points dropped since the durable queue was created or, without one, since the start. */
  get dropped(): Drops {
    return this._state;
  }

  /** All dropped points. */
  get drops(): number {
    return dropsOf(this._state);
  }

  /** Dropped points that were reported to the platform. */
  get reported(): number {
    return this._state.reported;
  }

  /** The first points cannot be read now, so nothing is sent. */
  get isUnreadable(): boolean {
    return (this._unreadableSince ?? this._timeUnreadSince) !== undefined;
  }

  /** Points that would be lost if the run ended now, because flash fails. */
  get atRisk(): number {
    return this._log?.failed ? this.next - this._pendingFrom : 0;
  }

  /** Sets the drop callback, and calls it at once if points were found missing at the start. */
  watch(onDrop: () => void): void {
    this._onDrop = onDrop;
    if (this.drops !== dropsOf(this.counted)) onDrop();
  }

  /**
   * Adds a point: the text of its values (`maxText` bytes at most), with the application's time
   * stamp or a generated one. False if there is no room; the point then counts as dropped.
   */
  append(text: Uint8Array, ts: Timestamp<"application"> | undefined): boolean {
    const { _buffer: buffer, _log: log, _state: state } = this;
    const size = padded(POINT_HEAD + text.length);
    // This may store the time, so it comes before room is made.
    const tick = ts === undefined ? this.stamps.nextTick() : 0;
    if (!this._makeRoom(size)) {
      state.full++;
      if (log?.failed) log.dirty = true;
      this._onDrop?.();
      return false;
    }
    if (ts === undefined) buffer.push(POINT, state.epoch, tick, text);
    else buffer.push(GIVEN, 0, ts, text);
    invariant("points take no more memory than their budget", () => buffer.fill <= 1);
    if (!log) return true;
    if (this._storesAtOnce(log)) this.sync();
    else this._tickSoon();
    return true;
  }

  /**
   * Goes back, so that the next `step` reaches the first waiting point. No earlier batch may be in
   * progress.
   */
  rewind(): void {
    const { _log: log, _buffer: buffer, _state: state } = this;
    if (log) this._settle(log);
    this._checkIfBehind();
    this._isInMemory = state.finished >= buffer.first;
    if (this._isInMemory) buffer.seek(state.finished);
    else log?.rewind();
  }

  /**
   * Goes to the next point and returns its offset in `bytes`: where it lies in memory, or the
   * place from `behind` on that it was read to. -1 after the last and before an unreadable one.
   */
  step(behind: number, isFirst: boolean): number {
    const { _log: log, _buffer: buffer, _area: area } = this;
    if (this._isInMemory) return buffer.step();
    if (this._unreadableSince !== undefined) return -1;
    if (log && log.at < buffer.first) {
      const target = padded(behind);
      return log.step(target - area, this.bytes.length - area, isFirst) === "point" ? target : -1;
    }
    buffer.seek(buffer.first);
    this._isInMemory = true;
    return buffer.step();
  }

  /** Goes back to before the point at `at`. */
  back(at: number): void {
    if (!this._isInMemory) this._log?.back(lengthOf(this.words, at));
  }

  /** Removes the points below `number`, which the platform accepted. */
  confirm(number: number): void {
    this._finish(number);
    this._checkIfBehind();
  }

  /** Drops the points below `number`, which the platform rejected. */
  dropRefused(number: number): void {
    this._finish(number, "refused");
    this._checkIfBehind();
  }

  /** Notes that `drops` dropped points in total were reported to the platform. */
  dropsReported(drops: number): void {
    this._state.reported = drops;
    this._saveState();
  }

  /** The agent starts. `isWake`: for one wake. */
  agentStarts(isWake: boolean): void {
    this._patienceMs = isWake ? WAKE_PATIENCE_MS : READ_PATIENCE_MS;
    const waiting = this._state.stored - this._state.finished;
    // In a sleeping device points wait at almost each wake.
    if (waiting > 0 && !isWake) this._host.log("info", `points waiting in the durable queue: ${waiting}`);
    this.sync();
  }

  /**
   * Writes points that are only in memory to the durable queue, if there is one. After a failure
   * when a retry is due: by the delays, or `afterMs` after the last one.
   */
  sync(afterMs?: number): void {
    const { _log: log } = this;
    if (!log) return;
    if (!log.failed || this._isMended(log, afterMs)) this._flush(log);
    this._checkIfBehind();
  }

  /**
   * Saves state because the run ends or may end. `isLast`: nothing is recorded afterwards. Returns
   * the points that will be lost uncounted because neither flash nor store works.
   */
  saveAll(isLast = false): number {
    const { _log: log } = this;
    if (!log) return 0;
    this.sync(0);
    log.saveUnwritten();
    this._timer?.();
    this._timer = undefined;
    const unsavedDrops = this.drops - log.savedDrops;
    // Flash fails, is slow, or is full and keeps its oldest points.
    const points = this.next - this._pendingFrom;
    const isSaved = points === 0 && !log.failed && !log.dirty && unsavedDrops === 0;
    const bound = isLast || points > 0 || log.failed ? this.next : log.bound;
    if ((!isLast && isSaved) || this._saveWitness(log, bound, points > 0 || this._isHeld(log))) return 0;
    return points + unsavedDrops;
  }

  /** Forgets all points and drop counts, without counting. False if any points remain on flash. */
  forget(): boolean {
    const { _state: state, _buffer: buffer, _log: log } = this;
    const nothing = { full: 0, refused: 0, unreadable: 0 };
    // The witness goes first: an erased queue with a witness would count its points as lost.
    const isForgotten = this._witness.forget();
    const isErased = isForgotten && (!log || log.forget());
    finish(state, this.next);
    buffer.remove(buffer.count);
    Object.assign(state, nothing, { reported: 0 });
    if (log) log.savedDrops = 0;
    return isErased;
  }

  // Implements EpochStore.

  saveTime(): void {
    this._saveState();
  }

  get isTimeSaved(): boolean {
    const { _log: log } = this;
    return !log || !(log.failed || log.dirty) || this._witness.hasTime(this._state);
  }

  get keepsTime(): boolean {
    return this._log !== undefined;
  }

  storePoints(): boolean {
    this.sync();
    return this._pendingFrom >= this.next;
  }

  findTime(epoch: number): EpochTime | "unread" | undefined {
    const { _log: log } = this;
    const found = log?.findTime(epoch);
    if (!log || found !== "unread") {
      this._timeUnreadSince = undefined;
      return found;
    }
    const now = this._host.clock.now();
    this._timeUnreadSince ??= now;
    if (now - this._timeUnreadSince < this._patienceMs) return found;
    log.givesUp = true;
    const rest = log.findTime(epoch);
    log.givesUp = false;
    return rest;
  }

  // The start.

  /** Reads the queue from flash, and counts the points that it lacks. */
  private _open(): void {
    const { _log: log, _state: state, _host: host, _witness: witness } = this;
    log?.load();
    const isFound = log !== undefined && state.sequence > 0;
    const found = JSON.stringify(state);
    const lost = witness.addTo(state, isFound ? log.id : 0, log?.isUnknown === true, log?.isCut === true);
    if (log) log.id = witness.identify();
    if (log && JSON.stringify(state) !== found) log.dirty = true;
    this.counted = { full: state.full, refused: state.refused, unreadable: state.unreadable - lost };
    if (log) this.counted.unreadable -= log.spoiled;
    const before = dropsOf(this.counted);
    // The queue is gone, and all that waited in it.
    if (!isFound) finish(state, state.stored, "unreadable");
    log?.findHead();
    this._buffer.first = state.stored;
    this.stamps.resume();
    const { unknown } = witness;
    if (unknown > 0)
      host.log(
        "error",
        "the durable queue or its witness cannot be read or is of another version: at least 1 point is lost",
      );
    else if (log?.isForeign)
      host.log("error", "the storage of the durable queue contains other data: starting empty");
    if (log) {
      this._settle(log);
      if (log.dirty && !log.failed) log.openNext();
    }
    const missing = this.drops - before - unknown;
    // If flash fails, each start finds the same again, and its failure is logged.
    if (missing > 0 && !log?.failed)
      host.log(
        "error",
        `the durable queue is damaged, outdated or missing: at most ${missing} points are lost`,
      );
  }

  // Room and writing.

  private get _dropsOldest(): boolean {
    return this.settings.drop === "oldest";
  }

  /** Number of the first point that is not on flash. */
  private get _pendingFrom(): number {
    return Math.max(this._state.stored, this._buffer.first);
  }

  /** Makes room for a record of `size` bytes in memory and, if it goes there at once, on flash. */
  private _makeRoom(size: number): boolean {
    const { _log: log, _buffer: buffer, _state: state } = this;
    if (log && !log.failed && !this._dropsOldest && this._storesAtOnce(log)) {
      // The first point in memory goes first.
      const next = buffer.pending > 0 ? sizeOf(this.words, buffer.pendingAt) : size;
      if (log.makeRoom(next) === false) return false;
    }
    if (buffer.makeRoom(size)) return true;
    this.sync(URGENT_MS);
    if (buffer.makeRoom(size)) return true;
    // The oldest points are on flash: dropping those makes no room.
    if (!this._dropsOldest || state.finished < buffer.first) return false;
    let points = 0;
    buffer.seek(buffer.first);
    for (let free = 0; free < size && points < buffer.count; points++)
      free += sizeOf(this.words, buffer.step());
    this._finish(buffer.first + points, "full");
    return buffer.makeRoom(size);
  }

  /** A point that was added goes to flash at once. */
  private _storesAtOnce(log: SectorLog): boolean {
    return this.settings.durable || log.failed || this._buffer.pending >= STAGE_BYTES;
  }

  private _tickSoon(): void {
    this._timer ??= this._host.clock.timer(TICK_MS, () => {
      this._timer = undefined;
      this.sync();
    });
  }

  /** Writes the points of memory that are not on flash. */
  private _flush(log: SectorLog): void {
    const { _buffer: buffer, _state: state, words } = this;
    let until = 0;
    while (buffer.pendingAt < buffer.used) {
      const size = sizeOf(words, buffer.pendingAt);
      let hasRoom = log.makeRoom(size);
      for (; hasRoom === false && this._dropsOldest; hasRoom = log.makeRoom(size))
        this._finish(log.oldestEnd, "full");
      if (!hasRoom) return;
      const from = buffer.pendingAt;
      const most = Math.min(buffer.used, from + log.room);
      let to = from + size;
      let points = 1;
      for (; to < most; points++) {
        const after = to + sizeOf(words, to);
        if (after > most) break;
        to = after;
      }
      // The witness goes first: points unknown to it would be lost uncounted with their sector.
      if (!this._witness.covers(state, points)) this._saveWitness(log);
      if (!log.append(this, from, to, points)) return;
      this._tries = this._dueAt = 0;
      buffer.pendingAt = to;
      if (to === buffer.used) return;
      const now = this._host.clock.now();
      until ||= now + SYNC_MS;
      if (now >= until) return;
    }
  }

  /** True if a retry was due (by the delays, or `afterMs` after the last) and worked. */
  private _isMended(log: SectorLog, afterMs?: number): boolean {
    const now = this._host.clock.now();
    if (now < (afterMs === undefined ? this._dueAt : this._triedAt + afterMs)) return false;
    const wait = RETRY_DELAYS_S[Math.min(this._tries++, RETRY_DELAYS_S.length - 1)] as number;
    this._triedAt = now;
    this._dueAt = now + wait * 1000;
    log.openNext();
    return !log.failed;
  }

  /** Each point asks, so this is one look. */
  private _checkIfBehind(): void {
    const { _log: log } = this;
    if (log && (log.failed || log.dirty || this._isUnhealthy)) this._checkHealth();
    if (log && this._buffer.pending > 0) this._tickSoon();
  }

  /** Reviews timer, witness and log messages after flash may have failed or recovered. */
  private _checkHealth(): void {
    const { _log: log, _witness: witness } = this;
    if (!log) return;
    this._logHealth(log.failed);
    const isBehind = log.failed || log.dirty;
    const isSaved = this._isHeld(log)
      ? witness.isFailing && this.next <= witness.bound && !(isBehind && witness.age >= TICK_MS)
      : !witness.isFailing && witness.covers(this._state, 0);
    if (!isSaved) this._saveWitness(log);
    if (isBehind) this._tickSoon();
    this._isUnhealthy = this._isFailureLogged || witness.isFailing;
  }

  /** Flash lacks points that were accepted, drops or the time, because it fails or is full. */
  private _isHeld({ failed, dirty }: SectorLog): boolean {
    return failed || dirty || (this._witness.isFailing && this._pendingFrom < this.next);
  }

  /** Points below this number may exist until the witness is saved again. */
  private _boundOf(log: SectorLog): number {
    if (!this._isHeld(log)) return log.bound;
    // Without a point in memory there is no reserve, or each start would count it as lost.
    return log.failed && this._buffer.count > 0 ? this.next + RESERVE : this.next;
  }

  /** Saves the witness; false if the store failed. */
  private _saveWitness(log: SectorLog, bound = this._boundOf(log), isHeld = this._isHeld(log)): boolean {
    if (!this._witness.note(this._state, bound, isHeld)) return false;
    log.savedDrops = this.drops;
    return true;
  }

  // Delivery and drops.

  /** The points below `number` are delivered or, for a `reason`, dropped. */
  private _finish(number: number, reason?: DropReason): void {
    const { _log: log, _buffer: buffer, _state: state } = this;
    const end = Math.min(number, this.next);
    if (end <= state.finished) return;
    if (log) log.finish(end, reason);
    else finish(state, end, reason);
    if (end > buffer.first) buffer.remove(end - buffer.first);
    if (reason) this._onDrop?.();
    invariant("no point is finished before it exists", () => state.finished <= this.next);
  }

  /** More of the state changed than marks tell. */
  private _saveState(): void {
    const { _log: log } = this;
    if (!log) return;
    if (log.failed) log.dirty = true;
    else log.save();
    this._checkHealth();
  }

  /**
   * Finds the first waiting point, and drops those before it that are unreadable. What the host
   * cannot read is dropped in the end, because a sector may be damaged permanently.
   */
  private _settle(log: SectorLog): void {
    const { _buffer: buffer, _state: state } = this;
    const now = this._host.clock.now();
    const isPatient = now - (this._unreadableSince ?? now) < this._patienceMs;
    while (state.finished < buffer.first) {
      log.rewind();
      if (log.at > state.finished) {
        // A sector was erased for room, and power failed before the next header said so.
        this._finish(Math.min(log.at, buffer.first), this._dropsOldest ? "full" : "unreadable");
        continue;
      }
      const found = log.step(0, this.bytes.length - this._area, true);
      if (found === "point") {
        const length = lengthOf(this.words, this._area) - POINT_HEAD;
        if (log.at - 1 <= state.finished && length <= this.maxText) break;
        // Records are missing before it, or `batchBytes` was larger when it was recorded.
        this._finish(Math.min(Math.max(log.at - 1, state.finished + 1), buffer.first), "unreadable");
      } else if (found === "unread") {
        if (isPatient) {
          this._unreadableSince ??= now;
          this._logFailure("cannot read the durable queue: its points are kept and reading is retried");
          return;
        }
        log.givesUp = true;
      } else {
        // Behind the end, or in a sector whose records are damaged.
        this._finish(found === "end" ? buffer.first : Math.min(log.at, buffer.first), "unreadable");
      }
    }
    this._unreadableSince = undefined;
    log.givesUp = false;
  }

  private _logHealth(isFailing: boolean): void {
    if (isFailing === this._isFailureLogged) return;
    if (isFailing)
      this._isFailureLogged = this._logFailure(
        "cannot write the durable queue: points stay in memory until flash works again",
      );
    else {
      this._isFailureLogged = false;
      this._host.log("warn", "the durable queue can be written again");
    }
  }

  /** Logs that the storage fails, at most once in QUIET_MS. True if it is logged. */
  private _logFailure(text: string): boolean {
    const now = this._host.clock.now();
    const log = storageLogOf(this._host);
    if (log.isSilent || now - this._loggedAt < QUIET_MS) return false;
    this._loggedAt = now;
    log.hasLogged = true;
    this._host.log("error", text);
    return true;
  }
}
