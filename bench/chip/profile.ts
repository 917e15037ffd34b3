// Where the instructions of a piece of work went, by function of the image.
import type { Counts, Idle } from "./counts.js";
import type { Symbols } from "./symbols.js";

/** By function; below 0 where less was done than in the same idle time. */
export type Profile = Readonly<Record<string, number>>;

export interface Work extends Idle {
  readonly counts: Counts;
}

/**
 * The profile of one of `pieces` done in `spent`. `idle` is subtracted, in proportion to the ticks
 * of both.
 */
export function profile(spent: Work, idle: Work, pieces: number, symbols: Symbols): Profile {
  const sums: Record<string, number> = {};
  const add = ({ counts }: Work, factor: number): void => {
    for (const [address, { instructions }] of counts.blocks) {
      const name = symbols.at(address);
      sums[name] = (sums[name] ?? 0) + (factor * instructions) / pieces;
    }
  };
  add(spent, 1);
  add(idle, idle.ticks === 0 ? 0 : -spent.ticks / idle.ticks);
  return sums;
}

/** Lines for people: the `most` expensive functions. */
export function profileLines(sums: Profile, most: number): string[] {
  const whole = Object.values(sums).reduce((sum, one) => sum + one, 0);
  return Object.entries(sums)
    .sort(([, one], [, other]) => other - one)
    .slice(0, most)
    .map(
      ([name, instructions]) =>
        `  ${name.padEnd(32)}${Math.round(instructions).toLocaleString("en-US").padStart(14)}${((100 * instructions) / whole).toFixed(1).padStart(7)} %`,
    );
}
