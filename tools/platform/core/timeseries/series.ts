import type { Value } from "../values.js";

export interface Point {
  /** Milliseconds since 1970. */
  readonly ts: number;
  readonly value: Value;
}

/** Taken points leave the list so many at a time, because removing one shifts all that follow. */
const BLOCK = 1_000;

/** Points in order of time, one for each time. */
export class Series {
  readonly #points: Point[] = [];
  /** Index of the oldest point. */
  #first = 0;

  get size(): number {
    return this.#points.length - this.#first;
  }

  get last(): Point | undefined {
    return this.size > 0 ? this.#points.at(-1) : undefined;
  }

  /** From `startTs` on, before `endTs`; at most `limit` points, the oldest first or the newest. */
  range(startTs: number, endTs: number, limit: number, ascending: boolean): Point[] {
    const from = this.#place(startTs);
    const to = this.#place(endTs);
    if (ascending) return this.#points.slice(from, Math.min(to, from + limit));
    return this.#points.slice(Math.max(from, to - limit), to).reverse();
  }

  /** Returns the value that had this time before. */
  put(ts: number, value: Value): Value | undefined {
    const at = this.#place(ts);
    const old = this.#points[at];
    if (old?.ts === ts) {
      this.#points[at] = { ts, value };
      return old.value;
    }
    if (old) this.#points.splice(at, 0, { ts, value });
    else this.#points.push({ ts, value });
    return undefined;
  }

  takeOldest(): Point {
    const oldest = this.#points[this.#first++]!;
    if (this.#first === BLOCK) {
      this.#points.splice(0, BLOCK);
      this.#first = 0;
    }
    return oldest;
  }

  /** Takes the points from `startTs` on, before `endTs`. */
  take(startTs: number, endTs: number): Point[] {
    const from = this.#place(startTs);
    return this.#points.splice(from, this.#place(endTs) - from);
  }

  /** Index of the first point at `ts` or later. */
  #place(ts: number): number {
    const points = this.#points;
    let low = this.#first;
    let high = points.length;
    if (low === high || points[high - 1]!.ts < ts) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (points[middle]!.ts < ts) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
