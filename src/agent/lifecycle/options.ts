// Options of a device that sleeps between samples.

/** Timing of a device that sleeps between samples. */
export interface CycleOptions {
  /** Interval between two wakes in ms. Default 60,000; 1,000 to 86,400,000. */
  everyMs?: number | undefined;
  /** One wake in this many connects. Default 60; 1 to 10,000. */
  connectEvery?: number | undefined;
  /**
   * Time limit of a wake with a download or a trial, in ms. At least twice `firmware.trialMs`.
   * Default 600,000; 10,000 to 3,600,000.
   */
  updateMs?: number | undefined;
}

/** The options, complete with defaults. */
export interface CycleSettings {
  readonly everyMs: number;
  readonly connectEvery: number;
  readonly updateMs: number;
}

/** Validation rules and defaults. */
export const CYCLE = {
  everyMs: [60_000, 1000, 86_400_000],
  connectEvery: [60, 1, 10_000],
  updateMs: [600_000, 10_000, 3_600_000],
} as const;
