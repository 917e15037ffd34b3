import Time from "time";
import Timer from "timer";
import type { Clock } from "../../src/port.js";

/** Time by the SDK. The date is not known until `set` or `trust` was called. */
export class XsClock implements Clock {
  private _ticks = Time.ticks;
  private _now = 0;
  private _known = false;

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
    return this._known ? Date.now() : undefined;
  }

  timer(ms: number, due: () => void): () => void {
    // The SDK clears one that was due, or was cleared, without a word.
    const timer = Timer.set(due, ms);
    return () => Timer.clear(timer);
  }

  /** The date was learnt. In seconds since 1970: the SDK takes no fractions. */
  set(seconds: number): void {
    Time.set(Math.round(seconds));
    this._known = true;
  }

  /** A date that is plausible and no more: enough to check certificates, not to stamp a point with. A later one that a restart left stays. */
  assume(seconds: number): void {
    if (!this._known && Date.now() < seconds * 1000) Time.set(Math.round(seconds));
  }

  /** The machine's own date is right: the simulator's, where setting it has no effect. */
  trust(): void {
    this._known = true;
  }
}
