// Time stamps of points.
//
// The platform stores one value per key and time stamp, so each point gets a unique one: `ts =
// max(now, last + 1)`. While the time is unknown, a point gets ticks (ms) instead, and its time
// stamp when its batch is built. Ticks continue over restarts until the time is known; such a
// period is a boot epoch. The start of an epoch is stored before any point gets a time stamp from
// it, so that points keep their order. A start that never knew the time ends where the next one
// begins.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import { clockTimestamp, isTimestamp, type Timestamp } from "../../wire/timestamp.js";

/** A clock set back by less than this is waited for: time stamps then advance by 1 ms. */
const SET_BACK_MS = 5000;
/**
 * The same for a clock that ran during sleep and may be fast: 5 % of 40 h; of a longer sleep a
 * tenth.
 */
const SLEPT_BACK_MS = 7_200_000;
/** Key of the stored boot epochs. */
const STORED = "boots";
const MAX_EPOCHS = 32;
const LAST_EPOCH = 65_535;
/**
 * Points with an unusable time (their boot epoch is no longer stored) are placed within this time
 * before all others.
 */
const LOST_EPOCH_MS = 86_400_000;

/**
 * The platform's time has a resolution of 1 s, so shorter intervals cannot measure the clock's
 * drift.
 */
const MEASURED_MS = 600_000;
const WORST_DRIFT = 0.15;

/** Kinds of points: stamped by the agent, by the application, or with ticks of a boot epoch. */
export const STAMPED = 1;
export const GIVEN = 2;
export const TICKS = 3;

/**
 * The start is in ms since 1970. Ticks below `exactFrom` belong to starts that never knew the time.
 */
interface BootEpoch {
  readonly epoch: number;
  readonly start: number;
  readonly exactFrom: number;
}

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
  /** Result of `next`: kind, boot epoch and time of the record. */
  kind = STAMPED;
  epoch = 1;
  time = 0;
  /** The last generated time stamp. */
  lastStamp = 0;
  private readonly _host: Host;
  private _epochs: BootEpoch[] = [];
  /** Store the starts of boot epochs, because points survive restarts. */
  private _isDurable = false;
  /** Points get time stamps from now on. */
  private _stamping = false;
  private _learning = true;
  /** Ticks are the host's clock plus this offset. */
  private _offset = 0;
  private _lastTick = -1;
  /** The platform's time minus the host's clock, from its last answer. */
  private _platformOffset: number | undefined;
  /** Time minus the host's clock, from the host or the last answer. */
  private _learned: number | undefined;
  /** Time minus the host's clock at the last check. It shrinks when the clock is set back. */
  private _skew: number | undefined;
  /** The known time was extrapolated from before a sleep. */
  private _isEstimated = false;
  private _setBackMs = SET_BACK_MS;
  /** Ticks from here on belong to this start, or to starts with a known sleep in between. */
  private _exactFrom = 0;

  constructor(host: Host) {
    this._host = host;
  }

  /** True if a point recorded now gets a time stamp. */
  get known(): boolean {
    return this.now() !== undefined;
  }

  /** Milliseconds since 1970; undefined while the time is unknown. */
  now(): Timestamp | undefined {
    return this._at(this._ms());
  }

  /** Milliseconds since 1970 by the platform's last answer; undefined before the first. */
  get platformNow(): number | undefined {
    return this._platformOffset === undefined ? undefined : this._host.clock.now() + this._platformOffset;
  }

  /** True if the time was learned since the start or the last sleep. */
  get synchronized(): boolean {
    return this.known && !this._isEstimated;
  }

  /** Milliseconds that continue over restarts, and over sleeps if `wake` knows them. */
  get ticks(): number {
    return this._ms() + this._offset;
  }

  /** Learns the time from an answer of the platform. The host's own time takes precedence. */
  learn(ms: Timestamp<"server">): void {
    this._platformOffset = ms - this._host.clock.now();
    if (this.known && !this._isEstimated) return;
    this._isEstimated = false;
    this._learned = ms - this._ms();
  }

  /** Restores the state after a sleep of `sleptMs` by the machine's own clock. */
  wake(memory: TimeMemory, sleptMs: number): void {
    memory.sinceSyncMs += sleptMs;
    const passed = sleptMs * memory.rate;
    if (memory.exactFrom < 0) memory.exactFrom = this.ticks;
    this._setBackMs = Math.max(SLEPT_BACK_MS, memory.sinceSyncMs / 10);
    this._exactFrom = memory.exactFrom;
    this._offset += Math.max(0, Math.floor(memory.ticks + passed) - this.ticks);
    this._isEstimated = true;
    const known = clockTimestamp(memory.endedAt && memory.endedAt + passed);
    if (known !== undefined) this._learned = known - this._ms();
  }

  /** Saves the state before a sleep, after a wake of `awakeMs`. */
  sleep(memory: TimeMemory, awakeMs: number): void {
    memory.sinceSyncMs += awakeMs;
    const now = this.now() ?? 0;
    if (this.synchronized) measureRate(memory, now);
    memory.endedAt = now;
    memory.ticks = this.ticks;
  }

  /**
   * Continues after the points of a durable queue: its last time stamp, boot epoch (0: none) and
   * tick, and the number of waiting points.
   */
  restore(lastStamp: number, epoch: number, tick: number, waiting: number): void {
    this._isDurable = true;
    const { epochs, end } = readEpochs(this._host);
    this.lastStamp = Math.max(lastStamp, end);
    this._epochs = epochs;
    const last = this._epochs.at(-1);
    const open = epoch !== 0 && !this._epochs.some((one) => one.epoch === epoch);
    if (open) {
      this.epoch = epoch;
      // A host's clock may start at any value.
      this._offset = tick + 1 - this._ms();
      this._exactFrom = tick + 1;
      this._lastTick = tick;
    } else if (last) this.epoch = last.epoch === LAST_EPOCH ? 1 : last.epoch + 1;
    if (waiting === 0 && last) this._epochs = [last];
  }

  /** Sets kind, boot epoch and time of the next point. */
  next(): void {
    const { clock } = this._host;
    const ticked = clock.now();
    const ms = ticked - (ticked % 1);
    const now = this._at(ms);
    if (now !== undefined && (this._learning ? this._closeEpoch(now) : this._stamping)) {
      const skew = now - ms;
      if (skew !== this._skew) this._skewed(now, skew);
      const next = this.lastStamp + 1;
      this.kind = STAMPED;
      this.time = this.lastStamp = now > next ? now : next;
      return;
    }
    this.kind = TICKS;
    this._lastTick = Math.max(ms + this._offset, this._lastTick + 1);
    this.time = this._lastTick;
  }

  /** The time stamp of a point; undefined while it is not known. */
  resolve(kind: number, epoch: number, time: number): Timestamp | undefined {
    if (kind !== TICKS && isTimestamp(time)) return time;
    const found = kind === TICKS ? this._find(epoch) : undefined;
    if (found) return this._placed(found.start + time, time);
    const now = this.now();
    if (now === undefined) return undefined;
    if (kind !== TICKS || epoch !== this.epoch) return this._placed(0, time);
    this._closeEpoch(now);
    const start = this._find(epoch)?.start;
    return start === undefined ? undefined : this._placed(start + time, time);
  }

  /** `ts` or, if invalid, a time stamp before all others. */
  private _placed(ts: number, time: number): Timestamp | undefined {
    if (isTimestamp(ts)) return ts;
    const first = clockTimestamp<"device">(this._epochs[0]?.start) ?? this.now();
    return first === undefined ? undefined : clockTimestamp(first - LOST_EPOCH_MS + (time % LOST_EPOCH_MS));
  }

  /** True if the time stamp is a guess, because its start never knew the time. */
  guessed(kind: number, epoch: number, time: number): boolean {
    if (kind !== TICKS) return !isTimestamp(time);
    return time < (this._find(epoch)?.exactFrom ?? time + 1);
  }

  /** The host's clock was set, or is checked for the first time. */
  private _skewed(now: number, skew: number): void {
    const back = this._skew === undefined ? this.lastStamp - now : this._skew - skew;
    this._skew = skew;
    if (back <= this._setBackMs) return;
    this._logSetBack(back);
    this.lastStamp = 0;
  }

  /**
   * Stores the start of the boot epoch that ends now. True if points get time stamps from now on.
   */
  private _closeEpoch(now: number): boolean {
    if (!this._learning) return this._stamping;
    this._learning = false;
    this._stamping = true;
    if (this._lastTick < 0) return true;
    let start = now - this._ms() - this._offset;
    // The boot epoch began after the last generated time stamp.
    const back = this.lastStamp - start;
    if (back > this._setBackMs) this._logSetBack(back);
    else if (back >= 0) start = this.lastStamp + 1;
    this.lastStamp = start + this._lastTick;
    this._epochs.push({ epoch: this.epoch, start, exactFrom: this._exactFrom });
    if (this._epochs.length > MAX_EPOCHS) this._epochs.shift();
    // If the store fails, a restart must find this boot epoch open, so its points continue with
    // ticks.
    if (this._isDurable) this._stamping = writeEpochs(this._host, this._epochs, this.lastStamp);
    return this._stamping;
  }

  private _logSetBack(ms: number): void {
    this._host.log("warn", `the clock was set back by ${Math.round(ms / 1000)} s: time stamps start again`);
  }

  private _find(epoch: number): BootEpoch | undefined {
    return this._epochs.find((one) => one.epoch === epoch);
  }

  /** The time when the host's clock shows `ms`. */
  private _at(ms: number): Timestamp | undefined {
    const wall = clockTimestamp<"device">(this._host.clock.wall());
    if (wall === undefined)
      return this._learned === undefined ? undefined : clockTimestamp(ms + this._learned);
    this._isEstimated = false;
    this._learned = wall - ms;
    return wall;
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

/**
 * The stored boot epochs, latest last, and the time stamp of their last point. The platform sends
 * whole seconds, so the next time may be before it.
 */
const readEpochs = (host: Host): { epochs: BootEpoch[]; end: number } => {
  const rows = readStored(host, STORED);
  const epochs: BootEpoch[] = [];
  if (!Array.isArray(rows)) return { epochs, end: 0 };
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== 3) continue;
    const [epoch, start, exactFrom] = row;
    if (typeof epoch !== "number" || typeof start !== "number" || typeof exactFrom !== "number") continue;
    epochs.push({ epoch, start, exactFrom });
  }
  const end = rows.at(-1);
  return { epochs, end: typeof end === "number" ? end : 0 };
};

/** False if the store failed. */
const writeEpochs = (host: Host, epochs: readonly BootEpoch[], end: number): boolean => {
  const rows = epochs.map<number | number[]>(toRow).concat(end);
  return writeStored(host, STORED, rows);
};

const toRow = (one: BootEpoch): number[] => {
  return [one.epoch, one.start, one.exactFrom];
};
