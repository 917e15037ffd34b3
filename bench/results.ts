// bench/results.json: the figures that were measured last, from which the documents' tables are
// made.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../tools/project.js";
import type { Costs } from "./chip/rows.js";
import type { Exact } from "./exact.js";

export interface Results {
  /** The same on every machine. */
  readonly exact: Exact;
  /** By chip. */
  readonly chip: Readonly<Record<string, Costs>>;
}

const FILE = join(PROJECT, "bench/results.json");

export const readResults = (): Results => JSON.parse(readFileSync(FILE, "utf8"));

/** Replaces some members and leaves the others. */
export function keepResults(changed: Partial<Results>): Results {
  const results = { ...readResults(), ...changed };
  writeFileSync(FILE, `${text(results)}\n`);
  return results;
}

/** Adds rows of one program on a chip to those that are kept. */
export function keepCosts(chip: string, program: keyof Costs, costs: Costs[typeof program]): void {
  const { chip: kept } = readResults();
  const before = kept[chip] ?? {};
  keepResults({ chip: { ...kept, [chip]: { ...before, [program]: { ...before[program], ...costs } } } });
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/** JSON with a line for each row of figures. */
function text(value: unknown, indent = ""): string {
  if (!isObject(value) || "seen" in value || !Object.values(value).some(isObject))
    return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([name, member]) => `${indent}  ${JSON.stringify(name)}: ${text(member, `${indent}  `)}`,
  );
  return `{\n${lines.join(",\n")}\n${indent}}`;
}

/** `value` with `count` digits, or the whole number where it has more. */
export const digits = (value: number, count = 4): string =>
  (value >= 1000 ? Math.round(value) : Number(value.toPrecision(count))).toLocaleString("en-US");
