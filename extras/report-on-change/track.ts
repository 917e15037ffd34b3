// State of one key with a rule: the last reported value, the last value and the open window.
// Its size does not grow.
import { parseJson } from "../../src/wire/text/json.js";
import type { ReportRule } from "./rule.js";

/** A value for comparing and repeating: a number, or JSON text. Undefined: none, or too long. */
export type Comparable = number | string | undefined;

/** Twice the relative error of a difference of two parsed decimals: 0.3 is 0.1 away from 0.2. */
const ROUNDING = 2 * Number.EPSILON;

const PARTS = ["_min", "_max", "_mean", "_count"];

/** Only its methods change its fields. */
export class Track {
  readonly key: string;
  readonly rule: ReportRule;
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

  constructor(key: string, rule: ReportRule) {
    this.key = key;
    this.rule = rule;
  }

  /** Time of the next report without a value; Infinity if there is none. */
  get dueAt(): number {
    return Math.min(this.count > 0 ? this.endAt : Number.POSITIVE_INFINITY, this.beatAt);
  }

  get beatAt(): number {
    const { heartbeatMs } = this.rule;
    if (heartbeatMs === undefined || this.last === undefined) return Number.POSITIVE_INFINITY;
    return this.reportedAt + heartbeatMs;
  }

  /** True if the value itself is reported. */
  wants(value: Comparable, now: number): boolean {
    const { onChange, onChangePercent, heartbeatMs, windowMs } = this.rule;
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
    if (this.rule.windowMs !== undefined && typeof value === "number")
      this._add(value, this.rule.windowMs, now);
  }

  /** Begins a heartbeat: returns the last value, to be reported again. */
  beat(now: number): unknown {
    this.reportedAt = now;
    return typeof this.last === "string" ? JSON.parse(this.last) : this.last;
  }

  /** The heartbeat was recorded. */
  beaten(): void {
    this.reported = this.last;
  }

  /** Forgets the values, but not the window. */
  forget(): void {
    this.reported = undefined;
    this.last = undefined;
  }

  /** Continues after a sleep with a row of saved.ts. The window continues if there still is one. */
  restore(row: readonly unknown[], now: number, slept: number): void {
    const [, reported, last, since, count, left, min, max, mean] = row as number[];
    this.reported = comparableOf(reported);
    this.last = comparableOf(last);
    if (typeof since === "number") this.reportedAt = now - since - slept;
    const { windowMs } = this.rule;
    if (windowMs === undefined || !(count! >= 1)) return;
    this.count = count!;
    this.endAt = now + Math.min(left!, windowMs) - slept;
    this.min = min!;
    this.max = max!;
    this.mean = mean!;
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

const comparableOf = (value: unknown): Comparable => {
  if (typeof value === "number") return value;
  return typeof value === "string" && parseJson(value).ok ? value : undefined;
};

export const summary = (key: string, numbers: readonly number[]): Record<string, number> => {
  return Object.fromEntries(PARTS.map((part, i) => [`${key}${part}`, numbers[i]!]));
};
