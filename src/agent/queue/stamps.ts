// Time stamps of points.
//
// A point stores its epoch and milliseconds, and is never changed. An epoch is a run of the agent,
// and the runs after it until one knows the time. When it began is an estimate. The estimate and
// each correction are stored before a point is sent by them, and hold for all points that wait.
//
// The platform stores one value per key and time stamp, so no time stamp is used twice: the
// milliseconds of an epoch rise, and an epoch begins after the last time stamp of the one before.
import type { Host } from "../../port.js";
import { isTimestamp } from "../../wire/timestamp.js";
import type { Time } from "../time/time.js";
import { enterEpoch, epochAfter, type QueueState } from "./record.js";

/**
 * A time set back by less than this is waited for: time stamps then continue from the last. A clock
 * that ran through sleeps before a power loss may have been so fast.
 */
const SET_BACK_MS = 30_000;
/**
 * The same for a clock that ran during sleep and may be fast: 5 % of 40 h; of a longer sleep a
 * tenth.
 */
const SLEPT_BACK_MS = 7_200_000;
/** Points of an epoch whose start was lost are placed within this time before the others. */
const LOST_EPOCH_MS = 86_400_000;
/** Between two such epochs, which may have points of the same ticks. */
const LOST_APART_MS = 1001;

/** The queue stores when an epoch began, and finds the start of a past one. */
export interface EpochStore {
  /** Stores the time of the state's epoch. */
  saveTime(): void;
  /** False while it is only in memory, or how far the epoch got is. */
  readonly isTimeSaved: boolean;
  /** `findTime` finds past epochs. */
  readonly keepsTime: boolean;
  /** Writes all points to flash. False if some are only in memory still. */
  storePoints(): boolean;
  /** "unread": flash cannot be read now. */
  findTime(epoch: number): EpochTime | "unread" | undefined;
}

/** A point's time stamp is `start` plus its milliseconds; below `exactFrom` it is a guess. */
export interface EpochTime {
  readonly start: number;
  readonly exactFrom: number;
}

/** An epoch that is not the current one. */
interface PastEpoch {
  readonly epoch: number;
  /** Undefined: it was lost. */
  readonly time: EpochTime | undefined;
}

export class Stamps {
  private readonly _host: Host;
  private readonly _time: Time;
  private readonly _state: QueueState;
  private readonly _store: EpochStore;
  private _hasBegun = false;
  /** Milliseconds of the first point that this epoch may have. */
  private _first = 0;
  /** Points of this epoch up to these milliseconds may have been sent, by earlier runs too. */
  private _sentTick = -1;
  private _past: PastEpoch | undefined;
  /** An estimate that only corrects this epoch, as points of it could not be stored. */
  private _deferred: number | undefined;

  constructor(host: Host, time: Time, state: QueueState, store: EpochStore) {
    this._host = host;
    this._time = time;
    this._state = state;
    this._store = store;
  }

  /** Continues after the points of a durable queue. */
  resume(): void {
    const { _state: state } = this;
    const { epoch, start, floor } = state;
    if (epoch > 0 && start === 0) this._time.continueFrom(state.tick);
    // While flash fails, only the witness knows how far this epoch got.
    if (start !== 0) state.tick = Math.max(state.tick, floor + 1 - start);
    if (start !== 0) this._sentTick = state.tick - 1;
  }

  /** The milliseconds of the next point, of the state's epoch from then on. */
  nextTick(): number {
    if (!this._hasBegun) this._begin();
    const { _state: state, _time: time } = this;
    const { ticks } = time;
    const tick = Math.max(ticks, state.tick);
    const start = time.startOf(ticks);
    if (start === undefined || start === state.start) state.tick = tick + 1;
    else this._learn(start, tick);
    return tick;
  }

  /**
   * A request is built whose first point has `tick` of `epoch`: the latest estimate holds from it
   * on. True if the queue was read or written for that: start again with its first point.
   */
  prepare(epoch: number, tick: number): boolean {
    const { _state: state } = this;
    if (epoch !== state.epoch && epoch !== this._past?.epoch) {
      const time = this._store.findTime(epoch);
      if (time === "unread") return false;
      this._past = { epoch, time };
      return true;
    }
    const { start } = state;
    this._update(epoch, tick);
    return state.start !== start;
  }

  private _update(epoch: number, tick: number): void {
    // The ticks of an epoch that ended are not those of this run.
    const { _state: state, _time: time } = this;
    const isOver = !this._hasBegun && state.start !== 0 && time.sleptSinceSyncMs === undefined;
    if (epoch !== state.epoch || isOver) return;
    const start = time.startOf(time.ticks);
    if (start === undefined || start === state.start) return;
    if (state.start === 0) this._setStart(start, this._first);
    else if (!this._store.keepsTime || tick > this._sentTick) this._setStart(start, tick);
  }

  /** The time of the points of `epoch` from `tick` on; undefined while it is not known. */
  timeOf(epoch: number, tick: number): EpochTime | undefined {
    const { _state: state, _past: past } = this;
    const isCurrent = epoch === state.epoch;
    if (isCurrent ? state.start === 0 || !this._store.isTimeSaved : epoch !== past?.epoch) return undefined;
    const time = isCurrent ? { start: state.start, exactFrom: state.exactFrom } : past?.time;
    const found = time ?? this._guess(epoch, tick);
    return found && isTimestamp(found.start + tick) ? found : undefined;
  }

  /** Points of `epoch` up to `tick` may be sent by the time that `timeOf` returned. */
  use(epoch: number, tick: number): void {
    if (epoch === this._state.epoch) this._sentTick = Math.max(this._sentTick, tick);
  }

  private _begin(): void {
    const { _state: state, _time: time } = this;
    this._hasBegun = true;
    const isOver = state.start !== 0 && time.sleptSinceSyncMs === undefined;
    if (state.epoch !== 0 && !isOver) return;
    this._enter(Math.max(0, time.ticks));
  }

  /** The point of `tick` is the first by another estimate. */
  private _learn(start: number, tick: number): void {
    const { _state: state } = this;
    const { start: before } = state;
    // Points that may have been sent keep their time stamps, so the correction begins an epoch. The
    // queue holds one epoch after the other, so the points before it go to flash first.
    const isSent = before !== 0 && this._store.keepsTime && this._sentTick >= 0;
    const begins = isSent && start !== this._deferred && this._store.storePoints();
    if (begins) this._enter(tick);
    else if (isSent) this._deferred = start;
    state.tick = tick + 1;
    if (begins || before === 0) this._setStart(start, this._first);
    else if (Math.abs(start - before) > SET_BACK_MS)
      this._setStart(start, isSent ? this._sentTick + 1 : this._first);
  }

  private _enter(tick: number): void {
    const { _state: state } = this;
    enterEpoch(state, epochAfter(state.epoch));
    this._first = tick;
    state.tick = Math.max(state.tick, tick);
    this._sentTick = -1;
    this._deferred = undefined;
  }

  /**
   * The epoch began at `start`, as far as is known. Time stamps from `tick` on are above all that
   * may have been sent.
   */
  private _setStart(start: number, tick: number): void {
    const { _state: state, _time: time, _sentTick: sentTick } = this;
    const { start: before } = state;
    const back = before === 0 ? state.floor - start - tick : before - start;
    const slept = time.sleptSinceSyncMs;
    if (back > (slept === undefined ? SET_BACK_MS : Math.max(SLEPT_BACK_MS, slept / 10))) {
      const seconds = Math.round(back / 1000);
      this._host.log("warn", `the clock was set back by ${seconds} s: time stamps start again`);
      state.floor = 0;
    } else if (before !== 0 && sentTick >= 0) state.floor = Math.max(state.floor, before + sentTick);
    if (before === 0) state.exactFrom = time.exactFrom;
    state.start = state.floor > 0 ? Math.max(start, state.floor + 1 - tick) : start;
    if (state.start !== before) this._store.saveTime();
  }

  /** A day before the points whose time is known; earlier epochs earlier. */
  private _guess(epoch: number, tick: number): EpochTime | undefined {
    const first = this._state.start || this._time.now();
    if (first === undefined) return undefined;
    const days = LOST_EPOCH_MS + tick - (tick % LOST_EPOCH_MS);
    const apart = LOST_APART_MS * ((this._state.epoch - epoch) & 0xffff);
    return { start: Math.floor(first) - days - apart, exactFrom: Number.POSITIVE_INFINITY };
  }
}
