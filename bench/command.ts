// npm run bench [-- --keep|--tables]: measures the exact figures and prints those that differ from
// bench/results.json.
import { isDeepStrictEqual } from "node:util";
import { Command } from "commander";
import { type Exact, lacking, measureExact, NAMES } from "./exact.js";
import { keepResults, readResults } from "./results.js";
import { writeTables } from "./tables.js";

const { keep, tables } = new Command("bench")
  .description(
    "Measures exact figures: traffic, XS steps and slots, the return of a fleet, a day on a battery.",
  )
  .option("--keep", "store the figures in bench/results.json, and write the documents' tables")
  .option("--tables", "measure nothing: write the documents' tables again")
  .parse()
  .opts<{ keep?: boolean; tables?: boolean }>();

const { exact } = readResults();
const measured: Record<string, unknown> = {};
let changed = 0;
for (const name of tables ? [] : NAMES) {
  const lacks = lacking(name);
  if (lacks !== undefined) {
    console.log(`${name}: not measured, ${lacks}`);
    continue;
  }
  const figures = await measureExact(name);
  measured[name] = figures;
  const isSame = isDeepStrictEqual(figures, exact[name]);
  if (!isSame) changed++;
  console.log(`${name}: ${isSame ? "as stored" : "CHANGED"}`);
  const before: Readonly<Record<string, unknown>> = exact[name];
  for (const [what, figure] of Object.entries(figures)) {
    const stored = isDeepStrictEqual(figure, before[what])
      ? ""
      : `  (stored: ${JSON.stringify(before[what])})`;
    console.log(`  ${what}: ${JSON.stringify(figure)}${stored}`);
  }
}
if (keep) keepResults({ exact: { ...exact, ...(measured as Partial<Exact>) } });
if (keep || tables) writeTables(readResults());
process.exitCode = changed > 0 && !keep ? 1 : 0;
