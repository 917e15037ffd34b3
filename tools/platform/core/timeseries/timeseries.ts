import type { Budget } from "../common/budget.js";
import { type Journal, NO_JOURNAL } from "../journal.js";
import { type Value, valueSize } from "../values.js";
import { type Point, Series } from "./series.js";

export type { Point };

export interface Range {
  /** Included. */
  startTs: number;
  /** Left out. */
  endTs: number;
  limit: number;
  /** Oldest first. */
  ascending: boolean;
}

/** Limits per key and per device. The oldest point makes room; a new key is dropped. */
const LARGEST = { points: 100_000, keys: 10_000 };
const POINT = 48;

/** Time series of one device. A later write of the same key and time replaces the value. */
export class TimeSeries {
  readonly #series = new Map<string, Series>();
  readonly #budget: Budget;
  readonly #journal: Journal;
  readonly #deviceId: string;

  constructor(budget: Budget, deviceId = "", journal: Journal = NO_JOURNAL) {
    this.#budget = budget;
    this.#deviceId = deviceId;
    this.#journal = journal;
  }

  keys(): string[] {
    return [...this.#series.keys()];
  }

  has(key: string): boolean {
    return this.#series.has(key);
  }

  latest(key: string): Point | undefined {
    return this.#series.get(key)?.last;
  }

  range(key: string, { startTs, endTs, limit, ascending }: Range): Point[] {
    return this.#series.get(key)?.range(startTs, endTs, limit, ascending) ?? [];
  }

  save(key: string, ts: number, value: Value): void {
    let series = this.#series.get(key);
    if (!series) {
      if (this.#series.size >= LARGEST.keys) return;
      series = new Series();
      this.#series.set(key, series);
    }
    const size = POINT + valueSize(value);
    while (series.size > 0 && (series.size >= LARGEST.points || !this.#budget.fits(size))) {
      const oldest = series.takeOldest();
      this.#forget(oldest.value);
      this.#journal.pointsGone(this.#deviceId, key, oldest.ts, after(oldest.ts));
    }
    if (!this.#budget.fits(size)) return;
    this.#budget.take(size);
    const old = series.put(ts, value);
    if (old !== undefined) this.#forget(old);
    this.#journal.point(this.#deviceId, key, ts, value);
  }

  delete(key: string, startTs = Number.NEGATIVE_INFINITY, endTs = Number.POSITIVE_INFINITY): void {
    const series = this.#series.get(key);
    if (!series) return;
    for (const { value } of series.take(startTs, endTs)) this.#forget(value);
    if (series.size === 0) this.#series.delete(key);
    this.#journal.pointsGone(this.#deviceId, key, startTs, endTs);
  }

  /** Gives back what the budget lent. */
  clear(): void {
    for (const key of this.keys()) this.delete(key);
  }

  #forget(value: Value): void {
    this.#budget.give(POINT + valueSize(value));
  }
}

/** The next number, so that one point alone lies between. */
function after(ts: number): number {
  return ts + Math.max(1, Math.abs(ts) * Number.EPSILON);
}
