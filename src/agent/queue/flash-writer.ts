// Writes points from memory to flash, immediately or soon, and retries after flash failed.
import type { Host } from "../../port.js";
import type { TelemetrySettings } from "../telemetry/options.js";
import type { FlashLog } from "./flash-log.js";
import type { HighWaterMark } from "./high-water-mark.js";
import { padded } from "./record.js";
import type { Ring } from "./ring.js";

/** After a failed write: retry at once, then after these delays, then every minute. */
const RETRY_DELAYS_S = [1, 2, 5, 10, 20, 30, 60];
/** While flash fails and memory is full, retry at most this often. */
const URGENT_MS = 1000;
/** Log failures at most once in this time. */
const QUIET_MS = 600_000;
/** While flash fails, update the high-water mark this often, with room for RESERVE more points. */
const MARK_MS = 1000;
const RESERVE = 16;
/** Never block the caller longer than this, however slow the flash is. */
const SYNC_MS = 2000;
/** With `durable: false`, points stay in memory at most this long or up to this many bytes. */
const STAGE_MS = 1000;
export const STAGE_BYTES = 4096;

export class FlashWriter {
  private readonly _host: Host;
  private readonly _ring: Ring;
  private readonly _log: FlashLog;
  private readonly _mark: HighWaterMark;
  private readonly _isDurable: boolean;
  private _stageTimer: (() => void) | undefined;
  private _retryTimer: (() => void) | undefined;
  private _markTimer: (() => void) | undefined;
  /** Index of the next delay, the time when it ends, and the time of the last attempt. */
  private _tries = 0;
  private _dueAt = 0;
  private _triedAt = 0;
  private _isLogged = false;
  private _loggedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, ring: Ring, log: FlashLog, mark: HighWaterMark, { durable }: TelemetrySettings) {
    this._host = host;
    this._ring = ring;
    this._log = log;
    this._mark = mark;
    this._isDurable = durable;
    this.checkHealth();
  }

  /** Called after a record, `from` to `to` in the ring, was added. */
  added(from: number, to: number): void {
    const { _ring: ring, _log: log } = this;
    if (!log.failed && !this._isDurable && ring.pending < STAGE_BYTES)
      this._stageTimer ??= this._host.clock.timer(STAGE_MS, () => {
        this._stageTimer = undefined;
        this.sync();
      });
    else if (ring.count - ring.onFlash > 1 || !log.makeRoom(to - from) || !this._write(from, to, 1))
      this.sync();
  }

  /**
   * Writes all points below `number` to flash. `isLast` retries failed flash without waiting,
   * because the run ends.
   */
  sync(isLast = false, number = this._ring.next): void {
    if (this._isReady(isLast ? 0 : undefined)) this._flush(number);
    this.checkHealth();
  }

  /**
   * Retries flash once more before points are dropped for lack of room, even before the delay ends.
   */
  flushUrgently(): void {
    if (this._isReady(URGENT_MS)) this._flush(this._ring.next);
    this.checkHealth();
  }

  /** Points that would be lost if the run ended now, because flash fails. */
  get atRisk(): number {
    return this._log.failed ? this._ring.count - this._ring.onFlash : 0;
  }

  /**
   * Saves state because the run ends or may end. `isLast`: nothing is recorded afterwards. Returns
   * the points that will be lost uncounted because neither flash nor store works.
   */
  close(isLast: boolean): number {
    this.sync(true);
    this._retryTimer?.();
    this._markTimer?.();
    this._retryTimer = this._markTimer = undefined;
    const { failed, dirty, unsavedDrops } = this._log;
    const isSaved = !failed && !dirty && unsavedDrops === 0;
    if ((!isLast && isSaved) || this._saveMark(this.atRisk, isLast)) return 0;
    return this.atRisk + this._log.unsavedDrops;
  }

  /** Forgets all points; false if any remain on flash or in the store. */
  forget(): boolean {
    // The mark goes first: an erased queue with a mark would count its points as lost.
    return this._mark.forget() && this._log.forget();
  }

  /** Reviews timers, high-water mark and log messages after flash may have failed or recovered. */
  checkHealth(): void {
    const { _log: log, _mark: mark } = this;
    const { clock } = this._host;
    this._logHealth(log.failed);
    if (!log.failed) {
      this._retryTimer?.();
      this._retryTimer = undefined;
    } else this._retryTimer ??= clock.timer(this._retryDelay, () => this._retry());
    if (!log.failed && !log.dirty) {
      if (mark.unsaved > 0 || !mark.covers(log, 0)) this._saveMark(0);
    } else if (mark.age >= MARK_MS || this.atRisk > mark.unsaved)
      this._saveMark(log.failed ? this.atRisk + RESERVE : 0);
    else
      this._markTimer ??= clock.timer(MARK_MS, () => {
        this._markTimer = undefined;
        this.checkHealth();
      });
  }

  /** Saves the high-water mark; false if the store failed. */
  private _saveMark(inMemory: number, isLast = false): boolean {
    if (!this._mark.save(this._log, inMemory, isLast)) return false;
    this._log.dropsSaved();
    return true;
  }

  private get _retryDelay(): number {
    // Wait at least one delay, so that a failure cannot cause a busy loop.
    return Math.max((RETRY_DELAYS_S[0] as number) * 1000, this._dueAt - this._host.clock.now());
  }

  private _retry(): void {
    this._retryTimer = undefined;
    this.sync();
  }

  /**
   * True if flash works, or if a retry was due (by the delays, or `afterMs` after the last) and
   * worked.
   */
  private _isReady(afterMs?: number): boolean {
    const { _log: log } = this;
    if (!log.failed) return true;
    const now = this._host.clock.now();
    if (now < (afterMs === undefined ? this._dueAt : this._triedAt + afterMs)) return false;
    const wait = RETRY_DELAYS_S[Math.min(this._tries++, RETRY_DELAYS_S.length - 1)] as number;
    this._triedAt = now;
    this._dueAt = now + wait * 1000;
    return log.retry();
  }

  private _flush(number: number): void {
    const { _ring: ring, _log: log } = this;
    const { clock } = this._host;
    const end = clock.now() + SYNC_MS;
    while (ring.first + ring.onFlash < number && clock.now() < end) {
      ring.seek();
      ring.step();
      const from = ring.at;
      let to = padded(ring.end);
      if (!log.makeRoom(to - from)) return;
      let points = 1;
      const most = number - ring.first - ring.onFlash;
      while (points < most && ring.step() && ring.at === to && padded(ring.end) - from <= log.room) {
        to = padded(ring.end);
        points++;
      }
      if (!this._write(from, to, points)) return;
    }
  }

  /** False if the points `from` to `to` in the ring are still in memory only. */
  private _write(from: number, to: number, points: number): boolean {
    const { _ring: ring, _log: log, _mark: mark } = this;
    // Update the mark first: points unknown to it would be lost uncounted with their sector.
    if (!mark.covers(log, points)) this._saveMark(mark.unsaved > 0 ? ring.count - ring.onFlash : 0);
    if (!log.append(ring, from, to, ring.first + ring.onFlash)) return false;
    this._tries = 0;
    this._dueAt = 0;
    ring.markOnFlash(points, to);
    return true;
  }

  private _logHealth(failed: boolean): void {
    const now = this._host.clock.now();
    if (failed && !this._isLogged && now - this._loggedAt >= QUIET_MS) {
      this._isLogged = true;
      this._loggedAt = now;
      this._host.log(
        "error",
        "cannot write the durable queue: points stay in memory until flash works again",
      );
    } else if (!failed && this._isLogged) {
      this._isLogged = false;
      this._host.log("error", "the durable queue can be written again");
    }
  }
}
