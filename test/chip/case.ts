/** One thing that is tried on the emulated chip. */
export interface Case {
  /** Words with hyphens: for the command line, and in the results. */
  readonly name: string;
  /** What is promised. */
  readonly title: string;
  /** Resolves with figures; rejects if the promise is broken. */
  run(context: Context): Promise<Figures>;
}

export interface Context {
  readonly seed: number;
  /** The short form. */
  readonly quick: boolean;
  say(line: string): void;
}

export type Figures = Readonly<Record<string, number | string>>;

export function check(good: boolean, otherwise: string): asserts good {
  if (!good) throw new Error(otherwise);
}
