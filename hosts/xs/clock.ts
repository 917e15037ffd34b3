import Time from "time";
import Timer from "timer";
import type { Clock } from "../../src/port.js";

/**
 * Time by the SDK. The system's time, which certificates are judged by, may be an estimate. `wall()`
 * is the time that was learned, so that a handshake with another system time stamps no point with it.
 */
export class XsClock implements Clock {
  private _ticks = Time.ticks;
  private _now = 0;
  /** Milliseconds since 1970 minus `now()`; undefined: not learned yet. */
  private _learned: number | undefined;
  private _isSystemRight = false;

  /** To be called once in 24 days at least: ticks are 32 bits of milliseconds, and turn negative in between. */
  now(): number {
    const ticks = Time.ticks;
    const passed = (ticks - this._ticks) | 0;
    this._ticks = ticks;
    // The simulator's ticks are its machine's date, which may be set back.
    if (passed > 0) this._now += passed;
    return this._now;
  }

  wall(): number | undefined {
    if (this._isSystemRight) return Date.now();
    return this._learned === undefined ? undefined : this._learned + this.now();
  }

  timer(ms: number, due: () => void): () => void {
    // The SDK clears one that was due, or was cleared, without a word.
    const timer = Timer.set(due, ms);
    return () => Timer.clear(timer);
  }

  /** The system's time in seconds since 1970. */
  system(): number {
    return Math.floor(Date.now() / 1000);
  }

  /** Sets the system's time alone: the SDK takes no fractions of a second. */
  assume(seconds: number): void {
    Time.set(Math.round(seconds));
  }

  /** The time was learned, in seconds since 1970. */
  set(seconds: number): void {
    this.assume(seconds);
    this._learned = Math.round(seconds) * 1000 - this.now();
  }

  /** The machine's own time is right: the simulator's, which can't be set. */
  trust(): void {
    this._isSystemRight = true;
  }
}
