// What the device knows of the time: from its own clock, from the platform's answers, or from
// before a sleep. Time stamps are made of it in queue/stamps.ts.
import type { Host } from "../../port.js";
import { clockTimestamp, type Timestamp } from "../../wire/timestamp.js";

/**
 * Smaller differences are no correction: of the host's clock, and of the platform's `Date`, which
 * has whole seconds and comes late.
 */
const CLOCK_MS = 100;
const DATE_MS = 2000;

/**
 * The platform's time has a resolution of 1 s, so shorter intervals cannot measure the clock's
 * drift.
 */
const MEASURED_MS = 600_000;
const WORST_DRIFT = 0.15;

/** Memory of the time over a sleep. */
export interface TimeMemory {
  /** Time at the end of the wake, ms since 1970; 0: unknown. */
  endedAt: number;
  ticks: number;
  /** Ticks at power-on, exact from here on; -1: no wake yet. */
  exactFrom: number;
  /** Time of the last synchronization, ms since 1970; 0: never. */
  syncedAt: number;
  /** Milliseconds since then, by the machine's own clock. */
  sinceSyncMs: number;
  /** Real ms per ms of the machine's own clock. */
  rate: number;
}

export class Time {
  /** Ticks below this belong to earlier runs, with an unknown time in between. */
  exactFrom = 0;
  /** ms since the last synchronization, if ticks continue over a known sleep. */
  sleptSinceSyncMs: number | undefined;
  private readonly _host: Host;
  /** Ticks are the host's clock plus this offset. */
  private _offset = 0;
  /** The platform's time minus the host's clock, from its last answer. */
  private _platformOffset: number | undefined;
  /** The time minus the host's clock; changes only by corrections. */
  private _learned: number | undefined;
  /** The known time was extrapolated from before a sleep. */
  private _isEstimated = false;

  constructor(host: Host) {
    this._host = host;
  }

  /** True if a point recorded now gets a time stamp. */
  get known(): boolean {
    return this.now() !== undefined;
  }

  /** Milliseconds since 1970; undefined while the time is unknown. */
  now(): Timestamp | undefined {
    return clockTimestamp(this._host.clock.wall()) ?? this._reckoned();
  }

  /**
   * When ticks were 0, ms since 1970; undefined while the time is unknown. `ticks`: of now.
   */
  startOf(ticks: number): number | undefined {
    const { _offset: offset } = this;
    const ms = ticks - offset;
    const wall = this._host.clock.wall();
    const { _learned: learned } = this;
    // Each point asks, so the usual case comes first: nothing was corrected.
    const error = learned === undefined || wall === undefined ? CLOCK_MS : wall - ms - learned;
    if (learned !== undefined && error < CLOCK_MS && error > -CLOCK_MS && !this._isEstimated)
      return learned - offset;
    const valid = clockTimestamp<"device">(wall);
    if (valid !== undefined) this._correct(valid - ms, CLOCK_MS);
    const now = this._learned;
    return now === undefined || clockTimestamp(ms + now) === undefined ? undefined : now - offset;
  }

  /** Milliseconds since 1970 by the platform's last answer; undefined before the first. */
  get platformNow(): number | undefined {
    return this._platformOffset === undefined ? undefined : this._host.clock.now() + this._platformOffset;
  }

  /** True if the time was learned since the start or the last sleep. */
  get synchronized(): boolean {
    return clockTimestamp(this._host.clock.wall()) !== undefined || (this.known && !this._isEstimated);
  }

  /** Milliseconds that continue over restarts, and over sleeps if `wake` knows them. */
  get ticks(): number {
    return Math.floor(this._host.clock.now()) + this._offset;
  }

  /**
   * Ticks continue from `tick`, the first that the last run left; the time since then is unknown.
   */
  continueFrom(tick: number): void {
    this._offset = tick - this._ms();
    this.exactFrom = tick;
  }

  /** Learns the time from an answer of the platform. The host's own time takes precedence. */
  learn(ms: Timestamp<"server">): void {
    this._platformOffset = ms - this._host.clock.now();
    if (clockTimestamp(this._host.clock.wall()) === undefined) this._correct(ms - this._ms(), DATE_MS);
  }

  /** Restores the state after a sleep of `sleptMs` by the machine's own clock. */
  wake(memory: TimeMemory, sleptMs: number): void {
    memory.sinceSyncMs += sleptMs;
    if (memory.exactFrom < 0) {
      this.exactFrom = memory.exactFrom = this.ticks;
      return;
    }
    this.exactFrom = memory.exactFrom;
    this.sleptSinceSyncMs = memory.sinceSyncMs;
    const passed = Math.floor(sleptMs * memory.rate);
    // Ticks and time advance alike: otherwise each wake would correct the start of its epoch.
    this._offset = memory.ticks + passed - this._ms();
    const known = clockTimestamp(memory.endedAt && memory.endedAt + passed);
    if (known === undefined) return;
    this._learned = known - this._ms();
    this._isEstimated = true;
  }

  /** Saves the state before a sleep, after a wake of `awakeMs`. */
  sleep(memory: TimeMemory, awakeMs: number): void {
    memory.sinceSyncMs += awakeMs;
    const synced = clockTimestamp(this._host.clock.wall()) ?? this.platformNow;
    if (this.synchronized && synced !== undefined) measureRate(memory, Math.floor(synced));
    memory.endedAt = this.now() ?? 0;
    memory.ticks = this.ticks;
  }

  /** The time is the host's clock plus `learned`; differences below `tolerance` are ignored. */
  private _correct(learned: number, tolerance: number): void {
    this._isEstimated = false;
    if (this._learned !== undefined && Math.abs(learned - this._learned) < tolerance) return;
    this._learned = learned;
  }

  private _reckoned(): Timestamp | undefined {
    return this._learned === undefined ? undefined : clockTimestamp(this._ms() + this._learned);
  }

  private _ms(): number {
    return Math.floor(this._host.clock.now());
  }
}

/**
 * The time was synchronized to `now`. Two synchronizations show how fast the machine's clock runs.
 */
export const measureRate = (memory: TimeMemory, now: number): void => {
  if (memory.syncedAt !== 0 && memory.sinceSyncMs < MEASURED_MS) return;
  const rate = (now - memory.syncedAt) / memory.sinceSyncMs;
  if (memory.syncedAt !== 0 && Math.abs(rate - 1) < WORST_DRIFT) memory.rate = rate;
  memory.syncedAt = now;
  memory.sinceSyncMs = 0;
};
