import type { Value } from "../values.js";

export interface Point {
  /** Milliseconds since 1970. */
  ts: number;
  value: Value;
}

const LEAST = 16;
/** Kind of a value: a DOUBLE, a LONG that fits a double, or one stored separately. */
const DOUBLE = 0;
const LONG = 1;
const OTHER = 2;

/**
 * Points in order of time, one for each time. In columns, because points by the hundred thousand
 * would else be as many objects for the garbage collector. To take the oldest costs the same
 * however many there are.
 */
export class Series {
  #times = new Float64Array(LEAST);
  #numbers = new Float64Array(LEAST);
  #kinds = new Uint8Array(LEAST);
  /** By time. */
  readonly #others = new Map<number, Value>();
  /** Where the oldest is, and where the next will be. */
  #first = 0;
  #end = 0;

  get size(): number {
    return this.#end - this.#first;
  }

  get last(): Point | undefined {
    return this.size > 0 ? this.#point(this.#end - 1) : undefined;
  }

  /** From `startTs` on, before `endTs`; `limit` of them at most, the oldest first or the newest. */
  range(startTs: number, endTs: number, limit: number, ascending: boolean): Point[] {
    const from = this.#place(startTs);
    const to = Math.max(from, this.#place(endTs));
    if (ascending) return this.#points(from, Math.min(to, from + limit));
    return this.#points(Math.max(from, to - limit), to).reverse();
  }

  /** Returns the value of the same time that it takes the place of. */
  put(ts: number, value: Value): Value | undefined {
    let at = this.#place(ts);
    if (at < this.#end && this.#times[at] === ts) {
      const old = this.#point(at).value;
      this.#write(at, ts, value);
      return old;
    }
    if (this.#end === this.#times.length) at -= this.#makeRoom();
    if (at < this.#end) this.#move(at, at + 1);
    this.#end++;
    this.#write(at, ts, value);
    return undefined;
  }

  takeOldest(): Point {
    const oldest = this.#point(this.#first++);
    this.#others.delete(oldest.ts);
    return oldest;
  }

  /** Takes those from `startTs` on, before `endTs`. */
  take(startTs: number, endTs: number): Point[] {
    const from = this.#place(startTs);
    const to = Math.max(from, this.#place(endTs));
    const taken = this.#points(from, to);
    for (const { ts } of taken) this.#others.delete(ts);
    this.#move(to, from);
    this.#end -= taken.length;
    return taken;
  }

  /** All from place `from` on. */
  #move(from: number, to: number): void {
    for (const column of [this.#times, this.#numbers, this.#kinds]) column.copyWithin(to, from, this.#end);
  }

  #points(from: number, to: number): Point[] {
    const points: Point[] = [];
    for (let at = from; at < to; at++) points.push(this.#point(at));
    return points;
  }

  #point(at: number): Point {
    const ts = this.#times[at]!;
    const kind = this.#kinds[at];
    if (kind === OTHER) return { ts, value: this.#others.get(ts)! };
    const number = this.#numbers[at]!;
    return { ts, value: kind === LONG ? BigInt(number) : number };
  }

  #write(at: number, ts: number, value: Value): void {
    const kind = kindOf(value);
    if (kind === OTHER) this.#others.set(ts, value);
    else if (this.#others.size > 0) this.#others.delete(ts);
    this.#times[at] = ts;
    this.#numbers[at] = kind === OTHER ? 0 : Number(value);
    this.#kinds[at] = kind;
  }

  /** Moves all to the front, of larger columns if need be. Returns by how many places. */
  #makeRoom(): number {
    const { size } = this;
    const moved = this.#first;
    const capacity = size * 2 > this.#times.length ? this.#times.length * 2 : this.#times.length;
    const grown = <T extends Float64Array | Uint8Array>(column: T, larger: T): T => {
      larger.set(column.subarray(moved, moved + size));
      return larger;
    };
    this.#times = grown(this.#times, new Float64Array(capacity));
    this.#numbers = grown(this.#numbers, new Float64Array(capacity));
    this.#kinds = grown(this.#kinds, new Uint8Array(capacity));
    this.#first = 0;
    this.#end = size;
    return moved;
  }

  /** Index of the first point at `ts` or later. */
  #place(ts: number): number {
    const times = this.#times;
    let low = this.#first;
    let high = this.#end;
    if (low === high || times[high - 1]! < ts) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle]! < ts) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function kindOf(value: Value): number {
  if (typeof value === "number") return DOUBLE;
  return typeof value === "bigint" && Number.isSafeInteger(Number(value)) ? LONG : OTHER;
}
