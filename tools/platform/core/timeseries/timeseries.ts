import { type Journal, NO_JOURNAL } from "../journal.js";
import { valueToText } from "../value-text.js";
import type { Value } from "../values.js";
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

/** Time series of one device. A later write of the same key and time replaces the value. */
export class TimeSeries {
  readonly #series = new Map<string, Series>();
  readonly #journal: Journal;
  readonly #deviceId: string;

  constructor(deviceId = "", journal: Journal = NO_JOURNAL) {
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
    if (series.size >= LARGEST.points) {
      const oldest = series.takeOldest();
      this.#note(undefined, key, oldest.ts);
    }
    series.put(ts, value);
    this.#note(valueToText(value), key, ts);
  }

  delete(key: string, startTs = Number.NEGATIVE_INFINITY, endTs = Number.POSITIVE_INFINITY): void {
    const series = this.#series.get(key);
    if (!series) return;
    for (const { ts } of series.take(startTs, endTs)) this.#note(undefined, key, ts);
    if (series.size === 0) this.#series.delete(key);
  }

  #note(value: unknown, key: string, ts: number): void {
    this.#journal.put(["device", this.#deviceId, "point", key, String(ts)], value);
  }
}
