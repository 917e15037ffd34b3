// bench/results.json: everything that the benchmarks measured last, from which tables are made.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../test/architecture/tree.js";
import type { Costs } from "./chip/rows.js";
import type { Spent } from "./desk.js";
import type { Result } from "./judge.js";

export interface Results {
  readonly rows: readonly Result[];
  readonly desk: Readonly<Record<string, Spent>>;
  /** By chip. */
  readonly chip: Readonly<Record<string, Costs>>;
  /** Exact figures by row. */
  readonly budget: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const FILE = join(root, "bench/results.json");

export const readResults = (): Results => JSON.parse(readFileSync(FILE, "utf8"));

/** Replaces some members and leaves the others. */
export function keepResults(changed: Partial<Results>): Results {
  const results = { ...readResults(), ...changed };
  writeFileSync(FILE, `${JSON.stringify(results, null, 2)}\n`);
  return results;
}

/** Adds rows of one program on a chip to those that are kept. */
export function keepCosts(
  chip: string,
  program: keyof Costs,
  costs: NonNullable<Costs[typeof program]>,
): void {
  const { chip: kept } = readResults();
  const before = kept[chip] ?? {};
  keepResults({ chip: { ...kept, [chip]: { ...before, [program]: { ...before[program], ...costs } } } });
}
