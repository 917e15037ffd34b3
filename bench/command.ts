// npm run bench -- [--quick] [--row N] [--stored]: measures, writes results.json and the tables of
// the documentation, and prints the rows and the goals. Exits 1 if a row failed.
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError } from "commander";
import { root } from "../test/architecture/tree.js";
import { CHIP } from "../test/chip/chip.js";
import { whatIsMissing } from "./chip/missing.js";
import { draw } from "./curve.js";
import { measureDesk } from "./desk.js";
import { writeTables } from "./docs.js";
import { goalTable, judgeGoals } from "./goals.js";
import { type Judged, judge, merged, type Result, table } from "./judge.js";
import { keepResults, readResults } from "./results.js";
import type { Line, Row } from "./row.js";
import { missing, rows } from "./rows.js";

const CHILD = fileURLToPath(new URL("./child.js", import.meta.url));
const ON_CHIP = fileURLToPath(new URL("./chip/command.js", import.meta.url));
const CURVES = join(root, "docs/bench");
const TIMES = { whole: 7, quick: 3 } as const;
const LONGEST_MS = { whole: 1_200_000, quick: 60_000 } as const;

function number(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError("the number of a row is expected");
}

const {
  quick,
  stored,
  row: only,
} = new Command("bench")
  .description("Measures Mote against the limit and against the others.")
  .option("--quick", "in less than a minute: fewer repetitions, and only the rows that are quick")
  .option("--row <n>", "only this row", number)
  .option("--stored", "measure nothing: print the goals from results.json, and write the tables again")
  .parse()
  .opts<{ quick?: boolean; row?: number; stored?: boolean }>();
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

/** Returns the number of rows that failed. */
async function measureRows(): Promise<number> {
  const asked = (await rows()).filter(({ id, quick: isQuick }) =>
    only === undefined ? !quick || isQuick : id === only,
  );
  if (asked.length === 0) throw new InvalidArgumentError(`there is no row ${only}`);
  const results: Judged[] = [];
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
      // A short run draws a coarse curve.
      if (!quick) for (const { file, svg } of curveOf(row, lines)) writeFileSync(join(CURVES, file), svg);
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
  keepResults({ rows: merged(readResults().rows, now) });
  return failed;
}

/** Returns true if figures of the chip could not be measured. */
async function measureChip(): Promise<boolean> {
  const child = spawn(process.execPath, [ON_CHIP], { stdio: "inherit" });
  const [code] = await once(child, "exit");
  return code !== 0;
}

let failed = 0;
/** Figures of the chip that were measured since then are new. */
let day: string | undefined;
if (!stored) {
  failed = await measureRows();
  if (only === undefined) {
    keepResults({ desk: await measureDesk() });
    const lacks = quick ? "a quick run leaves them out" : whatIsMissing();
    if (lacks !== undefined) console.log(`figures of the chip are from results.json: ${lacks}`);
    else {
      day = new Date().toISOString().slice(0, 10);
      if (await measureChip()) failed++;
    }
  }
}
const results = readResults();
writeTables(results);
if (only === undefined) {
  // The desk shows what Mote sends in a wake, if the chip has not shown it.
  const goals = judgeGoals(results.chip[CHIP.name] ?? {}, results.desk);
  console.log(`\n${goalTable(goals, day)}`);
}
process.exitCode = failed > 0 ? 1 : 0;
