// npm run bench -- [--quick] [--row N]: measures, prints one table, writes what was measured to results.json. Exits 1 if a row failed.
import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError } from "commander";
import { root } from "../test/architecture/tree.js";
import { draw } from "./curve.js";
import { type Judged, judge, merged, type Result, table } from "./judge.js";
import type { Line, Row } from "./row.js";
import { missing, rows } from "./rows.js";

const CHILD = fileURLToPath(new URL("./child.js", import.meta.url));
const RESULTS = join(root, "bench/results.json");
const CURVES = join(root, "docs/bench");
const TIMES = { whole: 7, quick: 3 } as const;
const LONGEST_MS = { whole: 1_200_000, quick: 60_000 } as const;

function number(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("the number of a row is expected");
}

const { quick, row: only } = new Command("bench")
  .description("Measures Mote against the limit and against the others; prints one table.")
  .option("--quick", "in less than a minute: fewer repetitions, and only the rows that are quick")
  .option("--row <n>", "only this row", number)
  .parse()
  .opts<{ quick?: boolean; row?: number }>();
const length = quick ? "quick" : "whole";

/** The row's lines, from a process of its own. Rejects if that ends without. */
function measured(row: Row): Promise<readonly Line[]> {
  return new Promise((resolve, reject) => {
    const child = fork(CHILD, [String(row.id), String(TIMES[length]), length], {
      execArgv: ["--enable-source-maps", "--expose-gc"],
      timeout: LONGEST_MS[length],
    });
    child.once("message", (lines) => resolve(lines as readonly Line[]));
    child.once("error", reject);
    child.once("exit", (code, signal) => reject(new Error(`it ended with ${signal ?? code}`)));
  });
}

/** The row's curve, if it has one. */
function curveOf({ id, name, curve }: Row, lines: readonly Line[]): { file: string; svg: string }[] {
  if (!curve) return [];
  const drawn = lines.flatMap(({ what, series }) => (series ? [{ name: what ?? "Mote", series }] : []));
  return [{ file: `row-${id}.svg`, svg: draw(name, curve, drawn) }];
}

const known = await rows();
const asked = known.filter(({ id, quick: isQuick }) =>
  only === undefined ? !quick || isQuick : id === only,
);
if (asked.length === 0) {
  console.error(`there is no row ${only}`);
  process.exit(2);
}
const results: Judged[] = [];
const curves: { readonly file: string; readonly svg: string }[] = [];
const left: string[] = [];
let failed = 0;
for (const row of asked) {
  const lacks = missing(row.needs);
  if (lacks !== undefined) {
    left.push(`row ${row.id} is left out: ${lacks}`);
    continue;
  }
  process.stderr.write(`row ${row.id}: ${row.name}\n`);
  try {
    const lines = await measured(row);
    for (const line of lines) results.push(judge(row, line));
    curves.push(...curveOf(row, lines));
  } catch (error) {
    failed++;
    left.push(`row ${row.id} FAILED: ${error instanceof Error ? error.message : error}`);
  }
}
console.log(table(results));
for (const line of left) console.log(line);
const times = TIMES[length];
console.log(
  `medians of ${times}${quick ? ": a quick run, not for quoting" : ""}; bench/README.md explains ratio and spread`,
);
const now = results.map(
  ({ id, name, mote, alternative, limit, ratio, target, ok }): Result => ({
    ...{ id, name, mote, alternative, limit, ratio, target, ok, times },
  }),
);
writeFileSync(
  RESULTS,
  `${JSON.stringify(merged(JSON.parse(readFileSync(RESULTS, "utf8")), now), null, 2)}\n`,
);
// A short run draws a coarse curve.
if (!quick) for (const { file, svg } of curves) writeFileSync(join(CURVES, file), svg);
process.exitCode = failed > 0 ? 1 : 0;
