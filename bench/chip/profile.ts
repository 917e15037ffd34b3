// Where the instructions of a piece of work went: by part of the image, and by function.
import type { Counts, Idle } from "./counts.js";
import type { Symbols } from "./symbols.js";

export interface Share {
  readonly name: string;
  /** Of one piece of work; below 0 where less was done than in the same idle time. */
  readonly instructions: number;
}

export interface Profile {
  /** The most first. */
  readonly parts: readonly Share[];
  readonly functions: readonly Share[];
  /** Functions in JavaScript, with all that the engine did until it went on in another one. */
  readonly scripts: readonly Share[];
}

export interface Work extends Idle {
  readonly counts: Counts;
}

/** `pieces`: how many were done in `spent`. `idle`: what is taken off, in proportion to the ticks of both. */
export function profile(
  spent: Work,
  idle: Work,
  pieces: number,
  symbols: Symbols,
  partAt: (address: number) => string,
  scriptAt: (address: number) => string,
): Profile {
  const parts = new Map<string, number>();
  const functions = new Map<string, number>();
  const scripts = new Map<string, number>();
  const add = ({ counts }: Work, factor: number): void => {
    for (const [address, { instructions }] of counts.blocks) {
      const cost = (factor * instructions) / pieces;
      for (const [sums, name] of [
        [parts, partAt(address)],
        [functions, symbols.at(address)],
      ] as const)
        sums.set(name, (sums.get(name) ?? 0) + cost);
    }
    for (const [address, instructions] of counts.code) {
      const name = scriptAt(address);
      scripts.set(name, (scripts.get(name) ?? 0) + (factor * instructions) / pieces);
    }
  };
  add(spent, 1);
  add(idle, idle.ticks === 0 ? 0 : -spent.ticks / idle.ticks);
  return { parts: sorted(parts), functions: sorted(functions), scripts: sorted(scripts) };
}

const sorted = (sums: ReadonlyMap<string, number>): Share[] =>
  [...sums]
    .map(([name, instructions]) => ({ name, instructions }))
    .sort((one, other) => other.instructions - one.instructions);

/** Lines for people: all parts, and the `most` functions. */
export function profileLines({ parts, functions, scripts }: Profile, most: number): string[] {
  const whole = parts.reduce((sum, { instructions }) => sum + instructions, 0);
  const line = ({ name, instructions }: Share): string =>
    `  ${name.padEnd(32)}${Math.round(instructions).toLocaleString("en-US").padStart(14)}${((100 * instructions) / whole).toFixed(1).padStart(7)} %`;
  return [
    ...parts.map(line),
    "  by function:",
    ...functions.slice(0, most).map(line),
    ...(scripts.length > 0 ? ["  by function in JavaScript, what it calls natively included:"] : []),
    ...scripts.slice(0, most).map(line),
  ];
}
