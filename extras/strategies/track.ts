// What is kept of one key with a strategy: the value last reported and the last one, and the window under way. As much after
// 10,000 values as after one.
import type { Strategy } from "./strategy.js";

/** A value to compare with and to repeat: a number, or the JSON text of another value. Undefined: there is none, or it is too long to be kept. */
export type Comparable = number | string | undefined;

/** Twice what reading two decimal numbers and taking their difference may be off by, per unit: 0.3 is 0.1 away from 0.2. */
const ROUNDING = 2 * Number.EPSILON;

const PARTS = ["_min", "_max", "_mean", "_count"];

export class Track {
  readonly key: string;
  strategy: Strategy;
  reported: Comparable;
  last: Comparable;
  /** By the host's clock, as all times here. */
  reportedAt = Number.NEGATIVE_INFINITY;
  /** Numbers in the window; 0: there is no window. */
  count = 0;
  endAt = 0;
  min = 0;
  max = 0;
  mean = 0;

  constructor(key: string, strategy: Strategy) {
    this.key = key;
    this.strategy = strategy;
  }

  /** When time alone makes it report: Infinity if it never does. */
  get dueAt(): number {
    return Math.min(this.count > 0 ? this.endAt : Number.POSITIVE_INFINITY, this.beatAt);
  }

  get beatAt(): number {
    const { heartbeatMs } = this.strategy;
    if (heartbeatMs === undefined || this.last === undefined) return Number.POSITIVE_INFINITY;
    return this.reportedAt + heartbeatMs;
  }

  /** Whether a value is reported itself. */
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

  /** Takes a value. `taken`: it was reported; undefined: it was not to be. */
  take(value: Comparable, now: number, taken: boolean | undefined): void {
    this.last = value;
    if (taken !== undefined) this.reportedAt = now;
    // One that found no room is not what the platform knows.
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
    // A sum would lose the small among the large, and grow without end.
    this.mean += (value - this.mean) / this.count;
  }

  /** Ends the window: the values to report. */
  end(): Record<string, number> {
    const values = summary(this.key, [this.min, this.max, this.mean, this.count]);
    this.count = 0;
    return values;
  }
}

export const summary = (key: string, numbers: readonly number[]): Record<string, number> => {
  return Object.fromEntries(PARTS.map((part, i) => [`${key}${part}`, numbers[i]!]));
};
