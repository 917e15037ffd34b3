// node scripts/campaign.mjs faults [--seed N] [--runs K]: simulates K runs from seed N on; exits with 1 at the first broken promise.
import { randomInt } from "node:crypto";
import { Command, InvalidArgumentError } from "commander";
import { simulateMany } from "./many.js";
import { simulate } from "./simulated-run.js";

function whole(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError("a whole number is expected");
}

interface Options {
  readonly seed: number;
  readonly runs: number;
  readonly trace?: boolean;
  readonly fail?: number;
}

const options = new Command("faults")
  .description("Simulates a device, a platform and all that goes wrong, and checks the promises.")
  .option("--seed <n>", "the first run's seed", whole, randomInt(1_000_000_000))
  .option("--runs <k>", "how many, each with the next seed", whole, 2000)
  .option("--trace", "print the first run step by step, whatever comes of it")
  .option("--fail <n>", "let the runs from this seed on fail, to see what that looks like", whole)
  .parse()
  .opts<Options>();

function table(applied: Readonly<Record<string, number>>): string {
  const rows = Object.entries(applied).sort(([one], [other]) => (one < other ? -1 : 1));
  return rows.map(([fault, times]) => `  ${String(times).padStart(8)}  ${fault}`).join("\n");
}

console.log(`seed ${options.seed}, ${options.runs} runs`);
const start = performance.now();
const outcome = await simulateMany(options.seed, options.runs, options.fail);
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
