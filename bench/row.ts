// What a row of the bench is. One file a row, `row-NN-what.ts`, which exports it as `row`; `npm run bench` finds it by that name and runs it in
// a process of its own.

import type { Curve, Series } from "./curve.js";

/** What a row can't do without: the Moddable SDK (`$MODDABLE`), or the XS engine of the tests. */
export type Need = "sdk" | "xs";

export interface Options {
  /** How often each subject is measured: 7 at least, 3 in a quick run. */
  readonly times: number;
  /** Less of everything, as the whole table takes less than a minute then. */
  readonly quick: boolean;
}

/** One figure, or one for each time it was measured: their median is given, and their spread. */
export type Figures = number | readonly number[];

export interface Line {
  /** Where a row has more than one line: which it is. */
  readonly what?: string;
  /** Of the figures: "bytes", "µs a point". */
  readonly unit: string;
  readonly mote: Figures;
  /** What a good engineer would use, or what the usual clients do. */
  readonly alternative?: Figures | undefined;
  /** What nothing can beat: the bare work without any of the promises, or a bound. */
  readonly limit?: Figures | undefined;
  /** Default: Mote's figure over the limit's, over the alternative's where there is no limit; pair by pair where both were measured as often. */
  readonly ratio?: Figures;
  /** Default: the row's. `null`: given beside, no target. */
  readonly target?: number | null;
  /** What is drawn of it. */
  readonly series?: Series;
}

export interface Row {
  /** Its number in the table of bench/README.md. */
  readonly id: number;
  readonly name: string;
  /** Largest good ratio; of Mote's figure where there is no ratio. */
  readonly target?: number;
  /** Whether a quick run has it. */
  readonly quick: boolean;
  readonly needs?: Need;
  /** Of the lines that have a series. */
  readonly curve?: Curve;
  /**
   * Figures that are the same in every run on every machine (bytes, requests, the engine's meter,
   * slots, sizes); less is better. results.json keeps them, and a test fails if one grows by more
   * than 5 %. Takes a few seconds of CPU at most.
   */
  readonly exact?: () => Promise<Readonly<Record<string, number>>>;
  /** Of `exact`, if it needs other than the row. `null`: nothing. */
  readonly exactNeeds?: Need | null;
  run(options: Options): Promise<readonly Line[]>;
}

export const list = (figures: Figures): readonly number[] =>
  typeof figures === "number" ? [figures] : figures;

export function median(figures: Figures): number {
  const sorted = [...list(figures)].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) throw new Error("nothing was measured");
  return sorted.length % 2 === 1 ? upper : (upper + sorted[middle - 1]!) / 2;
}

/**
 * Measures each subject `times` times, one after the other and the other way round in the next round, so that a machine that becomes slower does
 * so for all. Each runs once before, unmeasured.
 */
export async function inTurn<Name extends string>(
  times: number,
  subjects: Readonly<Record<Name, () => Promise<number> | number>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(subjects) as Name[];
  const figures = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (const name of names) await subjects[name]();
  for (let round = 0; round < times; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      figures[name].push(await subjects[name]());
    }
  }
  return figures;
}
