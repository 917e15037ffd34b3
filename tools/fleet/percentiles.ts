/** The last so many times of something, in milliseconds. */
export class Percentiles {
  readonly #kept: number;
  readonly #times: number[] = [];
  #next = 0;

  constructor(kept = 1_000) {
    this.#kept = kept;
  }

  get count(): number {
    return this.#times.length;
  }

  add(ms: number): void {
    this.#times[this.#next] = ms;
    this.#next = (this.#next + 1) % this.#kept;
  }

  /** Of `share` 0.5 the median; undefined if there are none. */
  at(share: number): number | undefined {
    const sorted = [...this.#times].sort((one, other) => one - other);
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  }
}
