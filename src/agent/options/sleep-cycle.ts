// The options of a device that sleeps between its samples: purpose, unit, default, limits.

export interface CycleOptions {
  /** From wake to wake, in ms. Default 60,000; 1,000 to 86,400,000. */
  everyMs?: number | undefined;
  /** Every so many wakes one connects. Default 60; 1 to 10,000. */
  connectEvery?: number | undefined;
  /** How long a wake may take that downloads an update, or has a new image on trial, in ms. Default 600,000; 10,000 to 3,600,000. */
  updateMs?: number | undefined;
}

/** The options with nothing left out. */
export interface CycleSettings {
  readonly everyMs: number;
  readonly connectEvery: number;
  readonly updateMs: number;
}

/** What each may be. */
export const CYCLE = {
  everyMs: [60_000, 1000, 86_400_000],
  connectEvery: [60, 1, 10_000],
  updateMs: [600_000, 10_000, 3_600_000],
} as const;
