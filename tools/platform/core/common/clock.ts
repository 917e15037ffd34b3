/** Time, as the platform's parts see it: a test hands in one that it moves by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, `ms` from now at the earliest; never before it returns. The result cancels it. */
  timer(ms: number, callback: () => void): () => void;
}
