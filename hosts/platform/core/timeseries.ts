import type { Budget } from "./budget.js";
import { type Value, valueSize } from "./values.js";

export interface Point {
  /** Milliseconds since 1970. */
  ts: number;
  value: Value;
}

export interface Range {
  /** Included. */
  startTs: number;
  /** Left out. */
  endTs: number;
  limit: number;
  /** Oldest first. */
  ascending: boolean;
}

/** Points kept per key and keys per device; the oldest point makes room, a further key is not kept. */
const LARGEST = { points: 100_000, keys: 10_000 };
const POINT = 48;

/** Time series of one device: by key, in order of time, one value per key and time (the later write holds). */
export class TimeSeries {
  readonly #series = new Map<string, Point[]>();
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  keys(): string[] {
    return [...this.#series.keys()];
  }

  latest(key: string): Point | undefined {
    return this.#series.get(key)?.at(-1);
  }

  range(key: string, { startTs, endTs, limit, ascending }: Range): Point[] {
    const points = this.#series.get(key) ?? [];
    const from = place(points, startTs);
    const to = Math.max(from, place(points, endTs));
    if (ascending) return points.slice(from, Math.min(to, from + limit));
    return points.slice(Math.max(from, to - limit), to).reverse();
  }

  save(key: string, ts: number, value: Value): void {
    let points = this.#series.get(key);
    if (!points) {
      if (this.#series.size >= LARGEST.keys) return;
      points = [];
      this.#series.set(key, points);
    }
    const size = POINT + valueSize(value);
    while (points.length > 0 && (points.length >= LARGEST.points || !this.#budget.fits(size))) {
      this.#forget(points.shift() as Point);
    }
    if (!this.#budget.fits(size)) return;
    this.#budget.take(size);
    this.#put(points, { ts, value });
  }

  delete(key: string, startTs = Number.NEGATIVE_INFINITY, endTs = Number.POSITIVE_INFINITY): void {
    const points = this.#series.get(key) ?? [];
    const from = place(points, startTs);
    for (const point of points.splice(from, place(points, endTs) - from)) this.#forget(point);
    if (points.length === 0) this.#series.delete(key);
  }

  /** Gives back what the budget lent. */
  clear(): void {
    for (const key of this.keys()) this.delete(key);
  }

  #put(points: Point[], point: Point): void {
    const at = place(points, point.ts);
    const old = points[at];
    if (old?.ts !== point.ts) {
      points.splice(at, 0, point);
      return;
    }
    this.#forget(old);
    points[at] = point;
  }

  #forget({ value }: Point): void {
    this.#budget.give(POINT + valueSize(value));
  }
}

/** Index of the first point at `ts` or later. */
function place(points: readonly Point[], ts: number): number {
  const last = points.at(-1);
  if (!last || last.ts < ts) return points.length;
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle] as Point).ts < ts) low = middle + 1;
    else high = middle;
  }
  return low;
}
