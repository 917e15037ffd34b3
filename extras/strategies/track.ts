// State of one key with a strategy: the last reported value, the last value and the open window.
// Its size does not grow.
import type { Strategy } from "./strategy.js";

/** A value for comparing and repeating: a number, or JSON text. Undefined: none, or too long. */
export type Comparable = number | string | undefined;

/** Twice the relative error of a difference of two parsed decimals: 0.3 is 0.1 away from 0.2. */
const ROUNDING = 2 * Number.EPSILON;

const PARTS = ["_min", "_max", "_mean", "_count"];

export class Track {
  readonly key: string;
  strategy: Strategy;
  reported: Comparable;
  last: Comparable;
  /** By the host's clock, like all times here. */
  reportedAt = Number.NEGATIVE_INFINITY;
  /** Count of numbers in the window; 0: no window. */
  count = 0;
  endAt = 0;
  min = 0;
  max = 0;
  mean = 0;

  constructor(key: string, strategy: Strategy) {
    this.key = key;
    this.strategy = strategy;
  }

  /** Time of the next report without a value; Infinity if there is none. */
  get dueAt(): number {
    return Math.min(this.count > 0 ? this.endAt : Number.POSITIVE_INFINITY, this.beatAt);
  }

  get beatAt(): number {
    const { heartbeatMs } = this.strategy;
    if (heartbeatMs === undefined || this.last === undefined) return Number.POSITIVE_INFINITY;
    return this.reportedAt + heartbeatMs;
  }

  /** True if the value itself is reported. */
  wants(value: Comparable, now: number): boolean {
    const { onChange, onChangePercent, heartbeatMs, windowMs } = this.strategy;
    if (value === undefined) return true;
    if (heartbeatMs !== undefined && this.reportedAt + heartbeatMs <= now) return true;
    const number = typeof value === "number";
    const compared = onChange !== undefined || onChangePercent !== undefined;
    if (!compared && (number || windowMs === undefined)) return false;
    const before = this.reported;
    if (!number || typeof before !== "number" || value === before) return value !== before;
    const band = Math.max(onChange ?? 0, (Math.abs(before) * (onChangePercent ?? 0)) / 100);
    return Math.abs(value - before) + (Math.abs(value) + Math.abs(before)) * ROUNDING >= band;
  }

  /** Takes a value. `taken`: whether it was recorded; undefined: it was not due. */
  take(value: Comparable, now: number, taken: boolean | undefined): void {
    this.last = value;
    if (taken !== undefined) this.reportedAt = now;
    // A dropped value is not the platform's last value.
    if (taken) this.reported = value;
    if (this.strategy.windowMs !== undefined && typeof value === "number")
      this._add(value, this.strategy.windowMs, now);
  }

  private _add(value: number, windowMs: number, now: number): void {
    if (this.count++ === 0) {
      this.endAt = now + windowMs;
      this.min = value;
      this.max = value;
      this.mean = value;
      return;
    }
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    // A running mean, because a sum would lose small values and grow forever.
    this.mean += (value - this.mean) / this.count;
  }

  /** Ends the window; returns the values to report. */
  end(): Record<string, number> {
    const values = summary(this.key, [this.min, this.max, this.mean, this.count]);
    this.count = 0;
    return values;
  }
}

export const summary = (key: string, numbers: readonly number[]): Record<string, number> => {
  return Object.fromEntries(PARTS.map((part, i) => [`${key}${part}`, numbers[i]!]));
};
