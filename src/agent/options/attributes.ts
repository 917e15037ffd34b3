// The options of attributes: purpose, unit, default, limits.

export interface AttributeOptions {
  /** Longest answer to a look at the attributes, in bytes; a larger group of keys is asked for in parts. Default 8,192; 512 to 1,048,576. */
  answerBytes?: number | undefined;
}

/** The options with nothing left out. */
export interface AttributeLimits {
  readonly answerBytes: number;
}

/** What each may be. */
export const ATTRIBUTES = { answerBytes: [8192, 512, 1_048_576] } as const;
