// Time stamps of points.
//
// The platform stores a point by key and time stamp, so each point gets one of its own: `ts = max(now, last + 1)`. As long as the
// time is not known, a point gets ticks (ms) instead, and its time stamp when its batch is built. Ticks count on over restarts until the
// time is learnt: such a stretch is a boot epoch. When its start is learnt it is noted in the store, before any point gets a
// time stamp, so that the order of points is the order of their time stamps. Starts that never knew the time thus
// end where the next begins.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";
import { clockTimestamp, isTimestamp, type Timestamp } from "../../wire/timestamp.js";

/** A clock set back by less is waited for: points count on by 1 ms. */
const SET_BACK_MS = 5000;
/** The same for a clock that went on asleep, and may have been fast: 5 % of 40 hours; of a longer sleep a tenth. */
const SLEPT_BACK_MS = 7_200_000;
/** Where the starts of boot epochs are stored. */
const STORED = "boots";
const MOST_EPOCHS = 32;
const LAST_EPOCH = 65_535;
/** Points without a usable time (their boot epoch is not in the store any more) are placed within this time before all others. */
const LOST_EPOCH_MS = 86_400_000;

/** Kinds of points: stamped by the agent, by the application, or with ticks of a boot epoch whose start was not known. */
export const STAMPED = 1;
export const GIVEN = 2;
export const TICKS = 3;

/** The boot epoch's start in ms since 1970; ticks below `exactFrom` are of starts that never knew the time. */
interface BootEpoch {
  readonly epoch: number;
  readonly start: number;
  readonly exactFrom: number;
}

export class Time {
  /** What `next` gave: the record's kind, boot epoch and time. */
  kind = STAMPED;
  epoch = 1;
  time = 0;
  /** The last time stamp given. */
  lastStamp = 0;
  private readonly _host: Host;
  private _epochs: BootEpoch[] = [];
  /** The starts of boot epochs go to the store: points outlive a restart. */
  private _keeps = false;
  /** Points get time stamps from now on. */
  private _stamping = false;
  private _learning = true;
  /** Ticks are the host's clock plus this. */
  private _offset = 0;
  private _lastTick = -1;
  /** Time minus the host's clock, as the host or an answer gave it last. */
  private _learnt: number | undefined;
  /** Time minus the host's clock when last looked at: it shrinks when the clock is set back. */
  private _skew: number | undefined;
  /** What was learnt is reckoned from before a sleep. */
  private _reckoned = false;
  private _setBackMs = SET_BACK_MS;
  /** Ticks from here on are of this start, or of starts that know how long they slept in between. */
  private _exactFrom = 0;

  constructor(host: Host) {
    this._host = host;
  }

  /** Whether points of now can be given a time stamp. */
  get known(): boolean {
    return this.now() !== undefined;
  }

  /** Milliseconds since 1970, or undefined as long as nobody said. */
  now(): Timestamp | undefined {
    return this._at(this._ms());
  }

  /** The time was learnt since the start or the last sleep. */
  get synchronized(): boolean {
    return this.known && !this._reckoned;
  }

  /** Milliseconds that count on over restarts, and over sleeps as far as `awake` knows them. */
  get ticks(): number {
    return this._ms() + this._offset;
  }

  /** The time as an answer of the platform gives it. Only used as long as the host does not know it. */
  learn(ms: Timestamp<"server">): void {
    if (this.known && !this._reckoned) return;
    this._reckoned = false;
    this._learnt = ms - this._ms();
  }

  /**
   * Goes on after a sleep: by what was known before it is `at` now (ms since 1970; 0: nobody noted it, what this run knows stays), and `ticks` have passed, which are exact from
   * `exactFrom` on. The time was learnt last `unsynchronizedMs` ago.
   */
  awake(at: number, ticks: number, exactFrom: number, unsynchronizedMs: number): void {
    this._setBackMs = Math.max(SLEPT_BACK_MS, unsynchronizedMs / 10);
    this._exactFrom = exactFrom;
    this._offset += Math.max(0, Math.floor(ticks) - this.ticks);
    this._reckoned = true;
    const known = clockTimestamp(at);
    if (known !== undefined) this._learnt = known - this._ms();
  }

  /** Goes on behind what a durable queue holds: the last time stamp, boot epoch (0: none) and tick in it, and how many points wait. */
  restore(lastStamp: number, epoch: number, tick: number, waiting: number): void {
    this._keeps = true;
    const { epochs, end } = readEpochs(this._host);
    // An older image may have stored a time that no clock shows.
    this.lastStamp = Math.max(clockTimestamp(lastStamp) ?? 0, end);
    this._epochs = epochs;
    const last = this._epochs.at(-1);
    const open = epoch !== 0 && !this._epochs.some((one) => one.epoch === epoch);
    if (open) {
      this.epoch = epoch;
      // A host's clock may show anything when the agent starts.
      this._offset = tick + 1 - this._ms();
      this._exactFrom = tick + 1;
      this._lastTick = tick;
    } else if (last) this.epoch = last.epoch === LAST_EPOCH ? 1 : last.epoch + 1;
    if (waiting === 0 && last) this._epochs = [last];
  }

  /** The next point's kind, boot epoch and time. */
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

  /** The time stamp of a point, or undefined if it is not known yet. */
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

  /** `ts`, or a time of its own before all others if that is none. */
  private _placed(ts: number, time: number): Timestamp | undefined {
    if (isTimestamp(ts)) return ts;
    const first = clockTimestamp<"device">(this._epochs[0]?.start) ?? this.now();
    return first === undefined ? undefined : clockTimestamp(first - LOST_EPOCH_MS + (time % LOST_EPOCH_MS));
  }

  /** Whether a point is of a start that never knew the time: its time stamp is a guess. */
  guessed(kind: number, epoch: number, time: number): boolean {
    if (kind !== TICKS) return !isTimestamp(time);
    return time < (this._find(epoch)?.exactFrom ?? time + 1);
  }

  /** The host's clock was set, or is looked at for the first time. */
  private _skewed(now: number, skew: number): void {
    const back = this._skew === undefined ? this.lastStamp - now : this._skew - skew;
    this._skew = skew;
    if (back <= this._setBackMs) return;
    this._logSetBack(back);
    this.lastStamp = 0;
  }

  /** Notes the start of the boot epoch that ends now. True if points get time stamps from now on. */
  private _closeEpoch(now: number): boolean {
    if (!this._learning) return this._stamping;
    this._learning = false;
    this._stamping = true;
    if (this._lastTick < 0) return true;
    let start = now - this._ms() - this._offset;
    // The boot epoch came after the last time stamp given.
    const back = this.lastStamp - start;
    if (back > this._setBackMs) this._logSetBack(back);
    else if (back >= 0) start = this.lastStamp + 1;
    this.lastStamp = start + this._lastTick;
    this._epochs.push({ epoch: this.epoch, start, exactFrom: this._exactFrom });
    if (this._epochs.length > MOST_EPOCHS) this._epochs.shift();
    // If the store fails, a restart must find the boot epoch still open: all its points go on with ticks.
    if (this._keeps) this._stamping = writeEpochs(this._host, this._epochs, this.lastStamp);
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
    if (wall === undefined) return this._learnt === undefined ? undefined : clockTimestamp(ms + this._learnt);
    this._reckoned = false;
    this._learnt = wall - ms;
    return wall;
  }

  private _ms(): number {
    return Math.floor(this._host.clock.now());
  }
}

/** Those known, the latest last, and the time stamp of the last point of them all: the platform sends whole seconds, so the next time learnt may be before it. */
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

/** False if the store does not take them. */
const writeEpochs = (host: Host, epochs: readonly BootEpoch[], end: number): boolean => {
  const rows = epochs.map<number | number[]>(toRow).concat(end);
  return writeStored(host, STORED, rows);
};

const toRow = (one: BootEpoch): number[] => {
  return [one.epoch, one.start, one.exactFrom];
};
