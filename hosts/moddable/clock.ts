import Time from "time";
import Timer from "timer";
import type { Clock } from "../../src/port.js";

/**
 * Time from the SDK. The system time, used to verify certificates, may be an estimate. `wall()` is
 * the learned time, so that an estimate never becomes a time stamp.
 */
export class XsClock implements Clock {
  private _ticks = Time.ticks;
  private _now = 0;
  /** ms since 1970 minus `now()`; undefined until learned. */
  private _learned: number | undefined;
  private _isSystemRight = false;

  /** Call at least every 24 days: ticks are 32-bit milliseconds and wrap. */
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
    // The SDK ignores timers that already fired or were cleared.
    const timer = Timer.set(due, ms);
    return () => Timer.clear(timer);
  }

  /** The system time in seconds since 1970. */
  system(): number {
    return Math.floor(Date.now() / 1000);
  }

  /** Sets only the system time; the SDK has no fractions of a second. */
  assume(seconds: number): void {
    Time.set(Math.round(seconds));
  }

  /** The time was learned, in seconds since 1970. */
  set(seconds: number): void {
    this.assume(seconds);
    this._learned = Math.round(seconds) * 1000 - this.now();
  }

  /** The machine's own time is right: on the simulator, which cannot set it. */
  trust(): void {
    this._isSystemRight = true;
  }
}
