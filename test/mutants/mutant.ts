/** One promise broken on purpose, as an edit of one file: a test has to see it. */
export interface Mutant {
  readonly name: string;
  /** The promise of README.md that it breaks: the beginning of a row of its table. */
  readonly promise: string;
  readonly file: string;
  /** Text of the file that is in it once, and what stands in its place. */
  readonly find: string;
  readonly replace: string;
  /** Test files that see it, below dist/test: as few as it takes. */
  readonly tests: readonly string[];
}
