// node scripts/campaign.mjs power-loss [PAIRS] [GROUP...]: injects power losses everywhere, with so many pairs a case (default 100; all), and prints how many by group and
// kind. CASE@PLAN in place of that runs one again. Exits 1 if a promise was broken.
import { all } from "./all.js";
import { type Problem, play, type Swept, sweep } from "./runner.js";

const [first = "100", ...only] = process.argv.slice(2);
/** Of each case's problems. */
const SHOWN = 2;

/** How many runs of each scenario, all cases together. */
function addUp(swept: readonly Swept[]): Record<string, number> {
  const sum: Record<string, number> = { cases: swept.length, runs: 0, powerLosses: 0 };
  for (const { runs, powerLosses } of swept) {
    sum.powerLosses = (sum.powerLosses ?? 0) + powerLosses;
    for (const [label, n] of Object.entries(runs)) {
      sum.runs = (sum.runs ?? 0) + n;
      const column = label.startsWith("linear") ? "linear" : label.replace("all ", "");
      if (column !== "none") sum[column] = (sum[column] ?? 0) + n;
    }
  }
  return sum;
}

async function runAll(pairs: number): Promise<number> {
  const rows: Record<string, Record<string, number>> = {};
  let broken = 0;
  for (const [group, cases] of Object.entries(all)) {
    if (only.length > 0 && !only.includes(group)) continue;
    const swept: Swept[] = [];
    for (const one of cases) {
      const done = await sweep(one, pairs);
      swept.push(done);
      broken += done.problems.length;
      for (const { message } of done.problems.slice(0, SHOWN)) console.log(message);
    }
    rows[group] = addUp(swept);
  }
  console.table(rows);
  const total = (what: string) => Object.values(rows).reduce((sum, row) => sum + (row[what] ?? 0), 0);
  console.log(`${total("powerLosses")} power losses; ${broken} of ${total("runs")} runs broke a promise`);
  return broken;
}

async function replay(id: string): Promise<number> {
  const [name, plan = "none"] = id.split("@");
  const one = Object.values(all)
    .flat()
    .find((other) => other.name === name);
  if (!one) throw new Error(`there is no case ${name}`);
  try {
    const starts = await play(one, plan);
    for (const [start, changes] of starts.entries())
      console.log(
        `start ${start}\n${changes.map((change, at) => `${String(at).padStart(5)} ${change.name}`).join("\n")}`,
      );
    return 0;
  } catch (error) {
    console.log((error as Problem).message);
    return 1;
  }
}

const broken = first.includes("@")
  ? await replay(first)
  : await runAll(first === "all" ? Number.POSITIVE_INFINITY : Number(first));
process.exitCode = broken > 0 ? 1 : 0;
