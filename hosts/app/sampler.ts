import type { Host } from "../../src/port.js";

/** Shortest and longest interval, in milliseconds. */
export const LIMITS = { least: 50, most: 3_600_000 } as const;

/** Calls `sample` once an interval. A new interval counts from now. */
export class Sampler {
  readonly #clock: Pick<Host["clock"], "timer">;
  readonly #sample: () => void;
  #intervalMs: number;
  #cancel: () => void = () => undefined;

  constructor(clock: Pick<Host["clock"], "timer">, intervalMs: number, sample: () => void) {
    this.#clock = clock;
    this.#sample = sample;
    this.#intervalMs = intervalMs;
    this.#arm();
  }

  get intervalMs(): number {
    return this.#intervalMs;
  }

  stop(): void {
    this.#cancel();
  }

  every(intervalMs: number): void {
    this.#cancel();
    this.#intervalMs = intervalMs;
    this.#arm();
  }

  #arm(): void {
    this.#cancel = this.#clock.timer(this.#intervalMs, () => {
      this.#arm();
      this.#sample();
    });
  }
}

/** The shared attribute `interval` (seconds) as milliseconds; undefined for what is no interval within the limits. */
export function intervalOf(value: unknown): number | undefined {
  if (typeof value !== "number") return undefined;
  const ms = value * 1_000;
  return ms >= LIMITS.least && ms <= LIMITS.most ? ms : undefined;
}
