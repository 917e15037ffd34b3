import type { Clock, Host, Store } from "../../src/port.js";

/** What is used of hosts/xs/clock.ts. */
export interface SettableClock extends Clock {
  set(seconds: number): void;
  assume(seconds: number): void;
}

/** Asks a time server once: calls `done` with seconds since 1970, or undefined if there was no answer. */
export type AskTime = (done: (seconds: number | undefined) => void) => void;

const KEY = "time";
const FORMAT = 1;
const FIRST_MS = 5000;
const LONGEST_MS = 600_000;
/** Between two looks at the time server; a crystal is off by 2 s a day at most. */
const AGAIN_MS = 86_400_000;
/** Between two notes of the time, which a start without network begins with. */
const NOTE_S = 86_400;

/**
 * The time of day of a board that has no clock of its own. Certificates need one before any server was asked: it begins with the later of
 * when the image was built and what was noted last, which is no time to stamp a point with. Then a time server is asked, until
 * it answers, and every day. Where none answers, the platform's own time is taken once it was reached over TLS.
 */
export class TimeOfDay {
  private readonly _clock: SettableClock;
  private readonly _store: Store;
  private readonly _log: Host["log"];
  private readonly _ask: AskTime;
  /** In seconds since 1970: no time before it is taken, as nobody vouches for what a time server says. */
  readonly floor: number;
  private _noted: number;
  private _delayMs = FIRST_MS;
  private _asking = false;
  /** The time server answered when it was asked last. */
  private _served = false;
  /** The platform's time that was taken last. */
  private _taken = 0;

  constructor(clock: SettableClock, store: Store, log: Host["log"], built: number, ask: AskTime) {
    this._clock = clock;
    this._store = store;
    this._log = log;
    this._ask = ask;
    this._noted = readTime(store) ?? 0;
    this.floor = Math.max(built, this._noted);
    clock.assume(this.floor);
  }

  /** To be called when there is a network. */
  learn(): void {
    if (this._asking) return;
    this._asking = true;
    this._round();
  }

  /**
   * To be called when the platform was reached over TLS: its certificate was valid at this time, so that a time server that lies
   * can't shut the device out for ever. `platformMs`: its own time, in milliseconds since 1970.
   */
  vouch(platformMs: number | undefined): void {
    if (!this._served && platformMs !== undefined) this._take(Math.floor(platformMs / 1000));
    const wall = this._clock.wall();
    if (wall === undefined) return;
    const seconds = Math.floor(wall / 1000);
    if (seconds < this._noted + NOTE_S) return;
    this._noted = seconds;
    const record = new Uint8Array(5);
    record[0] = FORMAT;
    for (let at = 4, rest = seconds; at > 0; at--, rest = Math.floor(rest / 256)) record[at] = rest % 256;
    this._store.set(KEY, record);
  }

  /** Once a day, as crystals drift. A board that never had a time server's answer would else start with ever older dates, and refuse a renewed certificate. */
  private _take(seconds: number): void {
    if (seconds < Math.max(this.floor, this._taken + NOTE_S)) return;
    this._taken = seconds;
    this._clock.set(seconds);
  }

  private _round(): void {
    try {
      this._ask((seconds) => this._answered(seconds));
    } catch {
      this._answered(undefined);
    }
  }

  private _answered(seconds: number | undefined): void {
    const good = seconds !== undefined && seconds >= this.floor;
    this._served = good;
    if (good) this._clock.set(seconds);
    else if (seconds !== undefined)
      this._log("warn", "the time server's time is before this image was built");
    const ms = good ? AGAIN_MS : this._delayMs;
    this._delayMs = good ? FIRST_MS : Math.min(LONGEST_MS, this._delayMs * 2);
    this._clock.timer(ms, () => this._round());
  }
}

const readTime = (store: Store): number | undefined => {
  const record = store.get(KEY);
  if (record?.length !== 5 || record[0] !== FORMAT) return undefined;
  let seconds = 0;
  for (const byte of record.subarray(1)) seconds = seconds * 256 + byte;
  return seconds;
};
