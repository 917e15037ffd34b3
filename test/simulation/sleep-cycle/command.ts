// npm run cycles -- [--seed N] [--days D] [--lives K]: tells K lives from seed N on; exits with 1 at the first broken promise.
import { randomInt } from "node:crypto";
import { Command } from "commander";
import { summary, tellLife } from "./runs.js";

const options = new Command("cycles")
  .description("Tells lives of a device that sleeps between its samples, and checks the promises.")
  .option("--seed <n>", "the first life's seed", Number, randomInt(1_000_000_000))
  .option("--days <d>", "how long each is", Number, 30)
  .option("--lives <k>", "how many, each with the next seed", Number, 1)
  .parse()
  .opts<{ seed: number; days: number; lives: number }>();

for (let seed = options.seed; seed < options.seed + options.lives; seed++) {
  const life = await tellLife(seed, options.days);
  console.log(summary(life));
  const { problems } = life.kept;
  if (problems.length === 0) continue;
  console.log(
    `${problems.length} broken promises:\n${problems
      .slice(0, 10)
      .map((problem) => `  ${problem}`)
      .join("\n")}`,
  );
  console.log(`see it with: npm run -s cycles -- --seed ${seed} --days ${options.days}`);
  process.exitCode = 1;
  break;
}
