import type { AppHost } from "../../hosts/device/application.js";

/** Shortest and longest interval, in milliseconds. */
export const LIMITS = { least: 50, most: 3_600_000 } as const;

/** Calls `sample` once an interval. A new interval counts from now. */
export class Sampler {
  private readonly _clock: Pick<AppHost["clock"], "timer">;
  private readonly _sample: () => void;
  private _intervalMs: number;
  private _cancel: () => void = () => undefined;

  constructor(clock: Pick<AppHost["clock"], "timer">, intervalMs: number, sample: () => void) {
    this._clock = clock;
    this._sample = sample;
    this._intervalMs = intervalMs;
    this._arm();
  }

  get intervalMs(): number {
    return this._intervalMs;
  }

  stop(): void {
    this._cancel();
  }

  every(intervalMs: number): void {
    this._cancel();
    this._intervalMs = intervalMs;
    this._arm();
  }

  private _arm(): void {
    this._cancel = this._clock.timer(this._intervalMs, () => {
      this._arm();
      this._sample();
    });
  }
}

/** The shared attribute `interval` (seconds) as milliseconds; undefined for what is no interval within the limits. */
export const intervalOf = (value: unknown): number | undefined => {
  if (typeof value !== "number") return undefined;
  const ms = value * 1_000;
  return ms >= LIMITS.least && ms <= LIMITS.most ? ms : undefined;
};
