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
/** Places of points that are gone which a series holds on to at most, while they are fewer than those that are kept. */
const GAP = 1024;

/** Time series of one device: by key, in order of time, one value per key and time (the later write holds). */
export class TimeSeries {
  readonly #series = new Map<string, Series>();
  readonly #budget: Budget;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  keys(): string[] {
    return [...this.#series.keys()];
  }

  latest(key: string): Point | undefined {
    return this.#series.get(key)?.last;
  }

  range(key: string, range: Range): Point[] {
    return this.#series.get(key)?.range(range) ?? [];
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
      this.#forget(series.takeOldest());
    }
    if (!this.#budget.fits(size)) return;
    this.#budget.take(size);
    this.#forget(series.put({ ts, value }));
  }

  delete(key: string, startTs = Number.NEGATIVE_INFINITY, endTs = Number.POSITIVE_INFINITY): void {
    const series = this.#series.get(key);
    for (const point of series?.take(startTs, endTs) ?? []) this.#forget(point);
    if (series?.size === 0) this.#series.delete(key);
  }

  /** Gives back what the budget lent. */
  clear(): void {
    for (const key of this.keys()) this.delete(key);
  }

  #forget(point: Point | undefined): void {
    if (point) this.#budget.give(POINT + valueSize(point.value));
  }
}

/** Points in order of time. To take the oldest costs the same however many there are. */
class Series {
  readonly #points: (Point | undefined)[] = [];
  /** Where the oldest is; what was before is gone. */
  #first = 0;

  get size(): number {
    return this.#points.length - this.#first;
  }

  get last(): Point | undefined {
    return this.size > 0 ? this.#points.at(-1) : undefined;
  }

  range({ startTs, endTs, limit, ascending }: Range): Point[] {
    const from = this.#place(startTs);
    const to = Math.max(from, this.#place(endTs));
    const slice = (begin: number, end: number) => this.#points.slice(begin, end) as Point[];
    if (ascending) return slice(from, Math.min(to, from + limit));
    return slice(Math.max(from, to - limit), to).reverse();
  }

  /** Returns the point of the same time that it takes the place of. */
  put(point: Point): Point | undefined {
    const at = this.#place(point.ts);
    if (at === this.#points.length) {
      this.#points.push(point);
      return undefined;
    }
    const old = this.#points[at];
    const isSame = old?.ts === point.ts;
    this.#points.splice(at, isSame ? 1 : 0, point);
    return isSame ? old : undefined;
  }

  takeOldest(): Point | undefined {
    const oldest = this.#points[this.#first];
    this.#points[this.#first++] = undefined;
    if (this.#first > GAP && this.#first > this.size) {
      this.#points.splice(0, this.#first);
      this.#first = 0;
    }
    return oldest;
  }

  take(startTs: number, endTs: number): Point[] {
    const from = this.#place(startTs);
    return this.#points.splice(from, this.#place(endTs) - from) as Point[];
  }

  /** Index of the first point at `ts` or later. */
  #place(ts: number): number {
    const points = this.#points;
    const { last } = this;
    if (!last || last.ts < ts) return points.length;
    let low = this.#first;
    let high = points.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((points[middle] as Point).ts < ts) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
