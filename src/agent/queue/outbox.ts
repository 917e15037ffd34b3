// Points that wait for the platform, first in, first out.
//
// They are stored in the sectors of the durable queue, if there is one, and in a ring in memory.
// The ring holds all points that are not on flash, and the latest of those on flash to avoid reads.
import { invariant } from "../../invariant.js";
import { HEAD_ROOM } from "../../platform/index.js";
import type { Host } from "../../port.js";
import { BEFORE_BYTES, FRAME_BYTES } from "../../wire/telemetry.js";
import type { Timestamp } from "../../wire/timestamp.js";
import { type TelemetryOptions, type TelemetrySettings, telemetrySettings } from "../telemetry/options.js";
import type { Time } from "../time/time.js";
import { GIVEN, STAMPED } from "../time/time.js";
import { FlashLog } from "./flash-log.js";
import { FlashWriter, STAGE_BYTES } from "./flash-writer.js";
import { HighWaterMark } from "./high-water-mark.js";
import { DONE, dropsOf, POINT_HEAD, padded, REFUSED } from "./record.js";
import { Ring } from "./ring.js";

export type DropReason = "full" | "refused" | "unreadable";

/** Points dropped, by reason. */
export type Drops = { [reason in DropReason]: number };

/** Bytes reserved before a batch's first point: the request head and the start of the body. */
export const BATCH_FRONT = BEFORE_BYTES + HEAD_ROOM;

/** Buffer size for a batch with a body of at most `limit` bytes. */
export const roomOf = (limit: number): number => BATCH_FRONT + limit;

/** Unreadable points are dropped after this time. */
const READ_PATIENCE_MS = 60_000;
/** The same in a wake, which is short. */
const WAKE_PATIENCE_MS = 3000;
/** Interval of the log message while the queue cannot be read. */
const LOG_MS = 600_000;

/** Holds the current point: a record from `at` to `end` in `bytes`. */
export type PointStorage = Ring | FlashLog;

/**
 * Points are numbered consecutively, starting where the durable queue stood at the start. Batches
 * are marked as delivered by number, so points dropped meanwhile do not affect others.
 */
export class Outbox {
  /**
   * Points in memory and, after them in the same buffer, the batch being sent. One buffer allows
   * native moves between the two.
   */
  readonly ring: Ring;
  /** Maximum length of a point's values as text, in bytes. */
  readonly maxText: number;
  readonly settings: TelemetrySettings;
  /** The first points cannot be read now, so nothing is sent. */
  isUnreadable = false;
  private _patienceMs = READ_PATIENCE_MS;
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _log: FlashLog | undefined;
  private readonly _writer: FlashWriter | undefined;
  private readonly _inMemory: Drops = { full: 0, refused: 0, unreadable: 0 };
  private _reported = 0;
  private _onDrop: ((points: number, reason: DropReason) => void) | undefined;
  /** Drops already passed to `_onDrop`. */
  private _reportedDrops: Drops = { full: 0, refused: 0, unreadable: 0 };
  /** Points that `step` has yet to read from flash. */
  private _unread = 0;
  /** Time since when the host cannot read; undefined while it can. */
  private _unreadableSince: number | undefined;
  private _loggedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, time: Time, options: TelemetryOptions) {
    this._host = host;
    this._time = time;
    this.settings = telemetrySettings(options);
    const { bufferBytes, batchBytes, drop } = this.settings;
    const ring = new Ring(new Uint8Array(bufferBytes + roomOf(batchBytes)), bufferBytes);
    this.ring = ring;
    let most = bufferBytes;
    if (host.blocks.size > 0) {
      const mark = new HighWaterMark(host);
      const log = FlashLog.open(host.blocks, drop === "oldest", mark, host.loops);
      if (log) {
        most = Math.min(most, log.most);
        this._log = log;
        this._resume(log);
        this._writer = new FlashWriter(host, ring, log, mark, this.settings);
      } else
        host.log("error", "the storage is too small for a durable queue: points are kept in memory only");
    }
    this.maxText = Math.min((most & ~3) - POINT_HEAD, batchBytes - FRAME_BYTES);
  }

  /** Points that are neither delivered nor dropped. */
  get waiting(): number {
    const { count, onFlash } = this.ring;
    return this._log ? count - onFlash + this._log.waiting : count;
  }

  /** Fill level, 0 to 1 (approximate). */
  get fill(): number {
    return this._log?.failed === false ? this._log.fill : this.ring.used / this.ring.bytes.length;
  }

  /** The number of the first waiting point. */
  get first(): number {
    return this._log?.waiting ? this._log.first : this.ring.first;
  }

  /** The number of the next point. */
  get next(): number {
    return this.ring.next;
  }

  /** Points dropped since the durable queue was created or, without one, since the start. */
  get dropped(): Drops {
    return this._log?.state ?? this._inMemory;
  }

  /** All dropped points. */
  get drops(): number {
    return dropsOf(this.dropped);
  }

  /** Dropped points that were reported to the platform. */
  get reported(): number {
    return this._log?.state.reported ?? this._reported;
  }

  /** Sets the drop callback, and calls it at once for points found missing at the start. */
  watch(onDrop: (points: number, reason: DropReason) => void): void {
    this._onDrop = onDrop;
    this._reportDrops();
  }

  /**
   * Adds a point: the text of its values (`maxText` bytes at most), with the application's time
   * stamp or a generated one. False if there is no room and `drop` is "newest"; the point then
   * counts as dropped.
   */
  append(text: Uint8Array, ts: Timestamp<"application"> | undefined): boolean {
    const { ring } = this;
    const { next } = ring;
    const length = POINT_HEAD + text.length;
    const free = this._log ? -1 : ring.reserve(padded(length));
    const at = free < 0 ? this._reserve(padded(length)) : free;
    if (at < 0) {
      this._count(1, "full");
      this._reportDrops();
      return false;
    }
    if (ts === undefined) {
      const time = this._time;
      time.next();
      ring.put(at, time.kind, time.epoch, time.time, text, length);
      if (time.kind === STAMPED) this._log?.stamped(time.time);
    } else ring.put(at, GIVEN, 0, ts, text, length);
    invariant("points are numbered consecutively", () => ring.next === next + 1);
    this._writer?.added(at, at + padded(length));
    this._reportDrops();
    return true;
  }

  /**
   * Goes back, so that the next `step` reaches the first waiting point. No earlier batch may be in
   * progress.
   */
  rewind(): void {
    const { ring, _log: log } = this;
    this.isUnreadable = log !== undefined && !this._canRead(log);
    this._reportDrops();
    this._unread = log ? log.waiting - ring.onFlash : 0;
    ring.rewind();
  }

  /**
   * Goes to the next point and returns its place. Undefined after the last and before an unreadable
   * one.
   */
  step(): PointStorage | undefined {
    if (this._unread === 0) return this.ring.step() ? this.ring : undefined;
    if (this.isUnreadable || !this._log?.step()) return undefined;
    this._unread--;
    return this._log;
  }

  /** Removes the points below `number`, which the platform accepted. */
  confirm(number: number): void {
    this._finish(DONE, number);
  }

  /** Drops the points below `number`, which the platform rejected. */
  dropRefused(number: number): void {
    this._finish(REFUSED, number);
    this._reportDrops();
  }

  /** Notes that `drops` dropped points in total were reported to the platform. */
  dropsReported(drops: number): void {
    this._reported = drops;
    this._log?.reported(drops);
    this._writer?.checkHealth();
  }

  /** The agent starts. `isWake`: for one wake. */
  begin(isWake: boolean): void {
    this._patienceMs = isWake ? WAKE_PATIENCE_MS : READ_PATIENCE_MS;
    const waiting = this._log?.waiting ?? 0;
    // In a sleeping device points wait at almost each wake.
    if (waiting > 0 && !isWake) this._host.log("info", `${waiting} points are waiting in the durable queue`);
    this.sync();
  }

  /** Writes points that are only in memory to the durable queue, if there is one. */
  sync(): void {
    this._writer?.sync();
    this._reportDrops();
  }

  /** Points that would be lost if the run ended now, because flash fails. */
  get atRisk(): number {
    return this._writer?.atRisk ?? 0;
  }

  /**
   * Saves state because the run ends or may end. `isLast`: nothing is recorded afterwards. Returns
   * the points that will be lost uncounted because neither flash nor store works.
   */
  close(isLast = false): number {
    return this._writer?.close(isLast) ?? 0;
  }

  /** Forgets all points and drop counts, without counting. False if any points remain on flash. */
  forget(): boolean {
    Object.assign(this.dropped, { full: 0, refused: 0, unreadable: 0 });
    Object.assign(this._reportedDrops, { full: 0, refused: 0, unreadable: 0 });
    this._reported = 0;
    this.ring.clear();
    return this._writer?.forget() !== false;
  }

  /** Continues from the state of the durable queue. */
  private _resume(log: FlashLog): void {
    const { _host: host } = this;
    const { state, waiting, lost } = log;
    this.ring.startAt(state.next);
    this._time.restore(state.lastStamp, state.epoch, state.tick, waiting);
    if (log.wasForeign)
      host.log("error", "the storage of the durable queue contains other data: starting empty");
    const { full, refused, unreadable } = state;
    this._reportedDrops = { full: full - lost.full, refused, unreadable: unreadable - lost.unreadable };
    const missing = lost.full + lost.unreadable;
    // If flash fails, each start finds the same again, and the writer logs the failure.
    if (missing > 0 && !log.failed)
      host.log(
        "error",
        `the durable queue is damaged, outdated or missing: at most ${missing} points are lost`,
      );
  }

  /**
   * False if the first points cannot be read now. They are dropped in the end, because a sector may
   * be damaged permanently.
   */
  private _canRead(log: FlashLog): boolean {
    const now = this._host.clock.now();
    const isPatient = now - (this._unreadableSince ?? now) < this._patienceMs;
    if (log.rewind(log.state.next - this.ring.onFlash, isPatient)) {
      this._unreadableSince = undefined;
      return true;
    }
    this._unreadableSince ??= now;
    if (now - this._loggedAt >= LOG_MS) {
      this._loggedAt = now;
      this._host.log("error", "cannot read the durable queue: its points are kept and reading is retried");
    }
    return false;
  }

  /** Offset in the ring for a record of `length` bytes, or -1. */
  private _reserve(length: number): number {
    const { ring, _log: log } = this;
    const { durable, drop } = this.settings;
    if (log?.failed === false && (durable || ring.pending >= STAGE_BYTES))
      if (!log.makeRoom(length) && !log.failed) return -1;
    let at = ring.reserve(length);
    if (at < 0) {
      this._writer?.flushUrgently();
      at = ring.reserve(length);
    }
    for (; at < 0 && drop === "oldest"; at = ring.reserve(length)) {
      ring.shift();
      this._count(1, "full");
    }
    return at;
  }

  private _finish(kind: typeof DONE | typeof REFUSED, number: number): void {
    const { ring, _log: log, _writer: writer } = this;
    log?.finish(kind, number);
    // If power fails before the next header, the refusal of a point that was never on flash is
    // forgotten. So write each refused point and its status entry, one by one to keep room.
    if (kind === REFUSED && log)
      for (let next = ring.first + ring.onFlash + 1; next <= number; next++) {
        writer?.sync(false, next);
        log.finish(kind, next);
      }
    const inMemory = ring.forget(number);
    if (kind === REFUSED && inMemory > 0) this._count(inMemory, "refused");
    if (log?.failed || log?.dirty) writer?.checkHealth();
  }

  private _count(points: number, reason: "full" | "refused"): void {
    if (this._log) this._log.count(points, reason);
    else this._inMemory[reason] += points;
  }

  /** Reports each dropped point once. */
  private _reportDrops(): void {
    const { dropped, _reportedDrops: known, _log: log } = this;
    if (dropsOf(dropped) === dropsOf(known)) return;
    // Copies of dropped points in memory are removed as well.
    if (log) this.ring.forget(log.first);
    if (log?.failed || log?.dirty) this._writer?.checkHealth();
    this._reportOf("full");
    this._reportOf("refused");
    this._reportOf("unreadable");
  }

  private _reportOf(reason: DropReason): void {
    const points = this.dropped[reason] - this._reportedDrops[reason];
    if (points === 0 || !this._onDrop) return;
    this._reportedDrops[reason] += points;
    this._onDrop(points, reason);
  }
}
