/** Hears of every change of what outlasts a restart, in order. */
export interface Journal {
  /**
   * JSON at a path, as in `device ID attribute SHARED_SCOPE interval`; undefined: all below it is
   * gone.
   */
  put(path: readonly string[], value: unknown): void;
}

/** State in memory alone. */
export const NO_JOURNAL: Journal = { put: () => {} };
