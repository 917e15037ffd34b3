// node scripts/campaign.mjs sleep-cycles [--seed N] [--days D] [--runs K]: simulates K sleep cycles from seed N on; exits with 1 at the first broken promise.
import { randomInt } from "node:crypto";
import { Command } from "commander";
import { simulateSleepCycle, summary } from "./runs.js";

const options = new Command("sleep-cycles")
  .description("Simulates a device that sleeps between its samples, and checks the promises.")
  .option("--seed <n>", "the first run's seed", Number, randomInt(1_000_000_000))
  .option("--days <d>", "how long each is", Number, 30)
  .option("--runs <k>", "how many, each with the next seed", Number, 1)
  .parse()
  .opts<{ seed: number; days: number; runs: number }>();

for (let seed = options.seed; seed < options.seed + options.runs; seed++) {
  const run = await simulateSleepCycle(seed, options.days);
  console.log(summary(run));
  const { problems } = run.judgement;
  if (problems.length === 0) continue;
  console.log(
    `${problems.length} broken promises:\n${problems
      .slice(0, 10)
      .map((problem) => `  ${problem}`)
      .join("\n")}`,
  );
  console.log(`see it with: node scripts/campaign.mjs sleep-cycles --seed ${seed} --days ${options.days}`);
  process.exitCode = 1;
  break;
}
