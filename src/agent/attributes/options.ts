// Options of attributes.

/** Limits of attributes. */
export interface AttributeOptions {
  /**
   * Maximum size of an attribute answer in bytes; larger groups of keys are split. Default 8,192;
   * 512 to 1,048,576.
   */
  answerBytes?: number | undefined;
}

/** The options, complete with defaults. */
export interface AttributeLimits {
  readonly answerBytes: number;
}

/** Validation rules and defaults. */
export const ATTRIBUTES = { answerBytes: [8192, 512, 1_048_576] } as const;
