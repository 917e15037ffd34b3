import type { Clock, Host, Store } from "../../src/port.js";
import { type CertificateTime, type Offset, SecondHandshake } from "./second-handshake.js";

/** The part of hosts/moddable/clock.ts that is used here. Times are in seconds since 1970. */
export interface BoardClock extends Clock {
  /** The time of the system's clock, which verifies certificates. It may be wrong. */
  system(): number;
  /** Sets only the system's clock. */
  assume(seconds: number): void;
  /** Sets the system's clock and the time of points. */
  set(seconds: number): void;
}

/** Asks a time server once. `done` gets seconds since 1970, or undefined without an answer. */
export type AskTime = (done: (seconds: number | undefined) => void) => void;

/** The period in which all certificates of a chain are valid, in seconds since 1970. */
export interface Validity {
  readonly from: number;
  readonly to: number;
}

/**
 * The validity of the chain of the connection whose event is being delivered. Undefined if the
 * server showed no chain, or if something other than its dates is wrong.
 */
export type ChainValidity = () => Validity | undefined;

const ESTIMATE = "time";
const FLOOR = "time-floor";
const FORMAT = 1;
/** Bytes of a time in a record. */
const TIME_BYTES = 5;
const DAY_S = 86_400;
/** Times later than 20 years after the build are rejected. */
const LIFE_S = 20 * 365.25 * DAY_S;
const FIRST_MS = 5000;
const LONGEST_MS = 600_000;
/** Interval between requests to the time server. A crystal drifts by up to 2 s a day. */
const AGAIN_MS = 86_400_000;

/**
 * The time of day of a board that has no clock of its own.
 *
 * Certificates need a time before any server was asked, so the board starts with its last estimate.
 * A time server corrects it. Without one, the platform's Date over TLS does. Times before the
 * floor, or later than 20 years after the build, are ignored.
 *
 * The floor is the build date. Only a verified platform raises it: to the date on which a CA issued
 * its certificate, and only if the platform's own Date lies within that certificate's dates. SNTP
 * is not authenticated and a platform's clock may be wrong, so neither of them can move the floor.
 *
 * The estimate may be too early or too late. If a handshake fails only for the dates of
 * certificates, a second one follows with another time, which is kept only if it succeeds.
 */
export class TimeOfDay implements CertificateTime {
  private readonly _clock: BoardClock;
  private readonly _store: Store;
  private readonly _log: Host["log"];
  private readonly _ask: AskTime;
  private readonly _validity: ChainValidity;
  private readonly _built: number;
  private _floor: number;
  /** The estimate in the store, in seconds since 1970. */
  private _saved: number | undefined;
  /** The last time from the time server, from the platform's Date, and from the stored estimate. */
  private _server: Offset | undefined;
  private _platform: Offset | undefined;
  private readonly _estimate: Offset | undefined;
  /** True if the time server answered the last request, and no handshake refuted its time. */
  private _hasServer = false;
  /** True if a handshake failed with the time server's time and succeeded with another. */
  private _isRefuted = false;
  /** The platform's Date that was accepted last. */
  private _lastDate = 0;
  /** The dates of the last chain that was accepted. */
  private _chain: Validity | undefined;
  /** Identifies the second handshake in progress. */
  private _trial: object | undefined;
  private _delayMs = FIRST_MS;
  private _isAsking = false;

  /** `built`: when the image was built. */
  constructor(
    clock: BoardClock,
    store: Store,
    log: Host["log"],
    built: number,
    ask: AskTime,
    validity: ChainValidity,
  ) {
    this._clock = clock;
    this._store = store;
    this._log = log;
    this._ask = ask;
    this._validity = validity;
    this._built = built;
    this._floor = built;
    // A floor belongs to the image that learned it: a new image starts from its own build date.
    const [by, floor = built] = readTimes(store, FLOOR, 2);
    if (by === built) this._floor = this._accepted(floor) ?? built;
    [this._saved] = readTimes(store, ESTIMATE, 1);
    const estimate = this._accepted(this._saved);
    this._estimate = estimate === undefined ? undefined : this._offset(estimate);
    const least = estimate ?? this._floor;
    // The system's clock keeps running during a software restart and deep sleep.
    const system = clock.system();
    if (system < least || this._accepted(system) === undefined) clock.assume(least);
  }

  /** The earliest time that is accepted, in seconds since 1970. */
  get floor(): number {
    return this._floor;
  }

  /** Starts to ask the time server, and repeats it. Call it when there is a network. */
  learn(): void {
    if (this._isAsking) return;
    this._isAsking = true;
    this._round();
  }

  /** Call it when the platform answered over TLS. `platformMs`: its Date, in ms since 1970. */
  platformAnswered(platformMs: number | undefined): void {
    const date = this._accepted(platformMs === undefined ? undefined : Math.floor(platformMs / 1000));
    if (date !== undefined) this._takeDate(date);
    const wall = this._clock.wall();
    const seconds = wall === undefined ? undefined : this._accepted(Math.floor(wall / 1000));
    if (seconds === undefined || Math.abs(seconds - (this._saved ?? 0)) < DAY_S) return;
    this._saved = seconds;
    writeTimes(this._store, ESTIMATE, [seconds]);
  }

  /**
   * Wraps `open`, so that each TLS connection may make a second handshake with another time.
   */
  watch(open: Host["open"]): Host["open"] {
    return (name, port, secure, event) =>
      secure ? new SecondHandshake(this, open, name, port, event) : open(name, port, secure, event);
  }

  /** The time that verifies certificates now. */
  get offset(): Offset {
    return this._offset(this._clock.system());
  }

  /** Call it when a handshake succeeded. Its chain is the platform's. */
  succeeded(): void {
    this._chain = this._validity() ?? this._chain;
  }

  /**
   * A time at which the chain of the handshake that just failed is valid, in seconds since 1970;
   * undefined if its dates are not the reason. `began`: the time at which it was verified.
   */
  otherTime(began: Offset): number | undefined {
    const chain = this._trial ? undefined : this._validity();
    const now = began + this._clock.now() / 1000;
    if (!chain || (now >= chain.from && now <= chain.to)) return undefined;
    const { from, to } = chain;
    // The time may have been learned meanwhile.
    for (const offset of [this.offset, this._server, this._platform, this._estimate]) {
      const other = this._at(offset);
      if (other !== undefined && other >= from && other <= to) return other;
    }
    if (this._server !== undefined) return undefined;
    // No time server answered. Use the earliest time at which the chain is valid: its CA issued it,
    // so that time has come.
    const earliest = this._accepted(Math.max(from, this._floor));
    return earliest !== undefined && earliest <= to ? earliest : undefined;
  }

  /** Verifies certificates at another time. The returned function keeps or reverts that time. */
  try(seconds: number): (isGood: boolean) => void {
    const before = this.offset;
    const day = new Date(seconds * 1000).toISOString().slice(0, 10);
    this._log(
      "warn",
      `TLS: the certificate is not valid at this time; the next attempt takes the date ${day}`,
    );
    const trial = {};
    this._trial = trial;
    this._clock.assume(seconds);
    return (isGood) => {
      // A time server or the platform has set the time meanwhile.
      if (this._trial !== trial) return;
      this._trial = undefined;
      if (!isGood) this._clock.assume(Math.floor(before + this._clock.now() / 1000));
      else this._adopt(seconds);
    };
  }

  /** `seconds` if it is within the accepted range. */
  private _accepted(seconds: number | undefined): number | undefined {
    if (seconds === undefined || seconds < this._floor || seconds > this._built + LIFE_S) return undefined;
    return seconds;
  }

  private _offset(seconds: number): Offset {
    return seconds - this._clock.now() / 1000;
  }

  private _at(offset: Offset | undefined): number | undefined {
    return offset === undefined ? undefined : this._accepted(Math.floor(offset + this._clock.now() / 1000));
  }

  private _set(seconds: number): void {
    this._trial = undefined;
    this._clock.set(seconds);
  }

  private _takeDate(date: number): void {
    const chain = this._chain;
    if (chain) {
      // A Date outside its own certificate's dates is wrong.
      if (date < chain.from || date > chain.to) return;
      if (this._floor < chain.from) this._raiseFloor(chain.from);
    }
    // Without a time server, set the time by the platform once a day, because crystals drift.
    if (this._hasServer || Math.abs(date - this._lastDate) < DAY_S) return;
    this._lastDate = date;
    this._platform = this._offset(date);
    this._set(date);
  }

  private _raiseFloor(seconds: number): void {
    this._floor = seconds;
    if (this._clock.system() < seconds) this._clock.assume(seconds);
    writeTimes(this._store, FLOOR, [this._built, seconds]);
  }

  private _adopt(seconds: number): void {
    const served = this._at(this._server);
    const isServer = served !== undefined && Math.abs(served - seconds) < DAY_S;
    // Accept the platform's next Date without waiting for a day.
    this._lastDate = 0;
    // If the time of points came from the time server, correct it too.
    if (isServer || this._hasServer) this._clock.set(isServer ? served : seconds);
    if (isServer || this._hasServer) this._isRefuted = !isServer;
    this._hasServer = isServer;
  }

  private _round(): void {
    try {
      this._ask((seconds) => this._answered(seconds));
    } catch {
      this._answered(undefined);
    }
  }

  private _answered(seconds: number | undefined): void {
    const time = this._accepted(seconds);
    const isOff = Math.abs((time ?? 0) - this._clock.system()) >= DAY_S;
    const isGood = time !== undefined && !(this._isRefuted && isOff);
    this._hasServer = isGood;
    if (isGood) {
      this._server = this._offset(time);
      this._set(time);
    } else if (seconds !== undefined) this._log("warn", `the time server's time is not accepted: ${seconds}`);
    const ms = isGood ? AGAIN_MS : this._delayMs;
    this._delayMs = isGood ? FIRST_MS : Math.min(LONGEST_MS, this._delayMs * 2);
    this._clock.timer(ms, () => this._round());
  }
}

/** Reads the `count` times of a record; none if the record is missing or has another format. */
const readTimes = (store: Store, key: string, count: number): number[] => {
  const record = store.get(key);
  if (record?.length !== 1 + count * TIME_BYTES || record[0] !== FORMAT) return [];
  const times: number[] = [];
  for (let at = 1; at < record.length; at += TIME_BYTES) {
    let seconds = 0;
    for (let i = 0; i < TIME_BYTES; i++) seconds = seconds * 256 + (record[at + i] as number);
    times.push(seconds);
  }
  return times;
};

const writeTimes = (store: Store, key: string, times: readonly number[]): void => {
  const record = new Uint8Array(1 + times.length * TIME_BYTES);
  record[0] = FORMAT;
  let end = 1;
  for (const seconds of times) {
    end += TIME_BYTES;
    for (let i = 1, rest = seconds; i <= TIME_BYTES; i++, rest = Math.floor(rest / 256))
      record[end - i] = rest % 256;
  }
  store.set(key, record);
};
