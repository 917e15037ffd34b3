// Brings points from memory to flash: at once or soon, and again after flash failed.
import type { Host } from "../../port.js";
import type { TelemetrySettings } from "../options/telemetry.js";
import type { FlashLog } from "./flash-log.js";
import { whole } from "./record.js";
import type { Ring } from "./ring.js";
import type { Witness } from "./witness.js";

/** After a failed write the next try comes at once, then after so many seconds, and then every minute. */
const WAITS_S = [1, 2, 5, 10, 20, 30, 60];
/** While flash fails and memory is full it is tried so often at most. */
const URGENT_MS = 1000;
/** Failures are logged once in this time. */
const QUIET_MS = 600_000;
/** While flash fails the witness is at most so old, and covers so many points more than there are. */
const WITNESS_MS = 1000;
const RESERVE = 16;
/** Longer than this nobody is held up, however slow the flash is. */
const SYNC_MS = 2000;
/** With `durable: false` points are in memory only for as long, or up to as many bytes. */
const STAGE_MS = 1000;
export const STAGE_BYTES = 4096;

export class FlashWriter {
  private readonly _host: Host;
  private readonly _ring: Ring;
  private readonly _log: FlashLog;
  private readonly _witness: Witness;
  private readonly _isDurable: boolean;
  private _stageTimer: (() => void) | undefined;
  private _retryTimer: (() => void) | undefined;
  private _witnessTimer: (() => void) | undefined;
  /** Which of the waits comes next, when it is over, and when flash was tried last. */
  private _tries = 0;
  private _dueAt = 0;
  private _triedAt = 0;
  private _isLogged = false;
  private _loggedAt = Number.NEGATIVE_INFINITY;

  constructor(host: Host, ring: Ring, log: FlashLog, witness: Witness, { durable }: TelemetrySettings) {
    this._host = host;
    this._ring = ring;
    this._log = log;
    this._witness = witness;
    this._isDurable = durable;
    this.look();
  }

  /** A record, `from` to `to` in the ring, was added. */
  added(from: number, to: number): void {
    const { _ring: ring, _log: log } = this;
    if (!log.failed && !this._isDurable && ring.pending < STAGE_BYTES)
      this._stageTimer ??= this._host.clock.timer(STAGE_MS, () => {
        this._stageTimer = undefined;
        this.sync();
      });
    else if (ring.count - ring.onFlash > 1 || !log.place(to - from) || !this._write(from, to, 1)) this.sync();
  }

  /** Brings all points below `number` to flash. `isLast`: the run ends, so that flash is tried whenever it was tried before. */
  sync(isLast = false, number = this._ring.next): void {
    if (this._isReady(isLast ? 0 : undefined)) this._bring(number);
    this.look();
  }

  /** Before points go for want of room flash is tried once more, though it may not be time. */
  makeRoom(): void {
    if (this._isReady(URGENT_MS)) this._bring(this._ring.next);
    this.look();
  }

  /** Points that end with this run, as flash fails. */
  get atRisk(): number {
    return this._log.failed ? this._ring.count - this._ring.onFlash : 0;
  }

  /** The run ends, or may. `isLast`: nothing is recorded afterwards. Returns the points that end with it uncounted, because neither flash nor store takes anything. */
  close(isLast: boolean): number {
    this.sync(true);
    this._retryTimer?.();
    this._witnessTimer?.();
    this._retryTimer = this._witnessTimer = undefined;
    const { failed, dirty } = this._log;
    if ((!isLast && !failed && !dirty) || this._witness.keep(this._log, this.atRisk, isLast)) return 0;
    return this.atRisk;
  }

  /** Forgets all; false if any stays on flash or in the store. */
  forget(): boolean {
    // In this order: an erased queue that the witness does not know of would count its points.
    return this._witness.forget() && this._log.forget();
  }

  /** After anything that may have failed, or have come through again. */
  look(): void {
    const { _log: log, _witness: witness } = this;
    const { clock } = this._host;
    this._logHealth(log.failed);
    if (!log.failed) {
      this._retryTimer?.();
      this._retryTimer = undefined;
    } else this._retryTimer ??= clock.timer(this._untilDue, () => this._retry());
    if (!log.failed && !log.dirty) {
      if (witness.unsaved > 0 || !witness.covers(log, 0)) witness.keep(log, 0);
    } else if (witness.age >= WITNESS_MS || this.atRisk > witness.unsaved)
      witness.keep(log, log.failed ? this.atRisk + RESERVE : 0);
    else
      this._witnessTimer ??= clock.timer(WITNESS_MS, () => {
        this._witnessTimer = undefined;
        this.look();
      });
  }

  private get _untilDue(): number {
    // Once at least, so that nothing spins.
    return Math.max((WAITS_S[0] as number) * 1000, this._dueAt - this._host.clock.now());
  }

  private _retry(): void {
    this._retryTimer = undefined;
    this.sync();
  }

  /** Flash works, or it is time to try it again (as the waits say, or `afterMs` after the last try) and that worked. */
  private _isReady(afterMs?: number): boolean {
    const { _log: log } = this;
    if (!log.failed) return true;
    const now = this._host.clock.now();
    if (now < (afterMs === undefined ? this._dueAt : this._triedAt + afterMs)) return false;
    const wait = WAITS_S[Math.min(this._tries++, WAITS_S.length - 1)] as number;
    this._triedAt = now;
    this._dueAt = now + wait * 1000;
    return log.retry();
  }

  private _bring(number: number): void {
    const { _ring: ring, _log: log } = this;
    const { clock } = this._host;
    const end = clock.now() + SYNC_MS;
    while (ring.first + ring.onFlash < number && clock.now() < end) {
      ring.seek();
      ring.step();
      const from = ring.at;
      let to = whole(ring.end);
      if (!log.place(to - from)) return;
      let points = 1;
      const most = number - ring.first - ring.onFlash;
      while (points < most && ring.step() && ring.at === to && whole(ring.end) - from <= log.room) {
        to = whole(ring.end);
        points++;
      }
      if (!this._write(from, to, points)) return;
    }
  }

  /** False if the points, `from` to `to` in the ring, are in memory only as before. */
  private _write(from: number, to: number, points: number): boolean {
    const { _ring: ring, _log: log, _witness: witness } = this;
    // First: points that nobody knows of would be lost uncounted with their sector.
    if (!witness.covers(log, points)) witness.keep(log, witness.unsaved > 0 ? ring.count - ring.onFlash : 0);
    if (!log.append(ring, from, to, ring.first + ring.onFlash)) return false;
    this._tries = 0;
    this._dueAt = 0;
    ring.keep(points, to);
    return true;
  }

  private _logHealth(failed: boolean): void {
    const now = this._host.clock.now();
    if (failed && !this._isLogged && now - this._loggedAt >= QUIET_MS) {
      this._isLogged = true;
      this._loggedAt = now;
      this._host.log("error", "the durable queue can't be written: points are kept in memory only");
    } else if (!failed && this._isLogged) {
      this._isLogged = false;
      this._host.log("error", "the durable queue is written again");
    }
  }
}
