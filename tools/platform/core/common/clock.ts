/** Time, as the platform's parts see it: a test hands in one that it moves by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back once, after at least `ms`, never synchronously. The result cancels it. */
  timer(ms: number, callback: () => void): () => void;
}
