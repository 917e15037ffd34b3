// node scripts/campaign.mjs faults [--seed N] [--runs K] [--workers W]: simulates K runs from seed N on; exits with 1 at the first broken promise.
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { type Outcome, simulateMany } from "./many.js";
import { simulate } from "./simulated-run.js";
import { shareOut } from "./workers.js";

const PROGRESS_MS = 2000;
/** Below this no other process is worth its start. */
const FEW = 50;

function whole(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError("a whole number is expected");
}

interface Options {
  readonly seed: number;
  readonly runs: number;
  readonly workers: number;
  readonly trace?: boolean;
  readonly fail?: number;
}

const options = new Command("faults")
  .description("Simulates a device, a platform and all that goes wrong, and checks the promises.")
  .option("--seed <n>", "the first run's seed", whole, randomInt(1_000_000_000))
  .option("--runs <k>", "how many, each with the next seed", whole, 2000)
  .option("--workers <w>", "processes", whole, availableParallelism())
  .option("--trace", "print the first run step by step, whatever comes of it")
  .option("--fail <n>", "let the runs from this seed on fail, to see what that looks like", whole)
  .parse()
  .opts<Options>();

function table(applied: Readonly<Record<string, number>>): string {
  const rows = Object.entries(applied).sort(([one], [other]) => (one < other ? -1 : 1));
  return rows.map(([fault, times]) => `  ${String(times).padStart(8)}  ${fault}`).join("\n");
}

async function simulateAll(options: Options): Promise<Outcome> {
  const { seed, runs, workers, fail } = options;
  if (runs < FEW || workers < 2) return simulateMany(seed, runs, fail);
  const start = performance.now();
  let shownAt = start;
  return shareOut(options, (done) => {
    const now = performance.now();
    if (now - shownAt < PROGRESS_MS) return;
    shownAt = now;
    const rate = (done / (now - start)) * 1000;
    process.stderr.write(`${done} of ${runs} runs, ${rate.toFixed(1)} a second\n`);
  });
}

console.log(`seed ${options.seed}, ${options.runs} runs`);
const start = performance.now();
const outcome = await simulateAll(options);
if (outcome.failed || options.trace) {
  const { trace, world } = await simulate(outcome.failed?.seed ?? options.seed);
  if (options.runs === 1 || options.trace) console.log(trace.join("\n"));
  if (options.trace) console.log(`bytes: ${world.digest}`);
}
if (outcome.failed) {
  const { seed, failures } = outcome.failed;
  console.log(`a promise is broken in run ${seed}:\n${failures.map((what) => `  ${what}`).join("\n")}`);
  console.log(`see it with: node scripts/campaign.mjs faults --seed ${seed} --runs 1`);
  process.exitCode = 1;
} else {
  const seconds = (performance.now() - start) / 1000;
  console.log(`faults applied:\n${table(outcome.applied)}`);
  console.log(`${outcome.runs} runs in ${seconds.toFixed(0)} s, promises broken: 0`);
}
