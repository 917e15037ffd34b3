// npm run faults -- [--seed N] [--stories K] [--workers W]: tells K stories from seed N on; exits with 1 at the first broken promise.
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError } from "commander";
import { type Told, tellMany } from "./many.js";
import { tell } from "./simulated-run.js";
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
  readonly stories: number;
  readonly workers: number;
  readonly trace?: boolean;
  readonly fail?: number;
}

const options = new Command("faults")
  .description("Tells stories of a device, a platform and all that goes wrong, and checks the promises.")
  .option("--seed <n>", "the first story's seed", whole, randomInt(1_000_000_000))
  .option("--stories <k>", "how many, each with the next seed", whole, 2000)
  .option("--workers <w>", "processes", whole, availableParallelism())
  .option("--trace", "print the first story step by step, whatever comes of it")
  .option("--fail <n>", "let the story of this seed fail, to see what that looks like", whole)
  .parse()
  .opts<Options>();

function table(applied: Readonly<Record<string, number>>): string {
  const rows = Object.entries(applied).sort(([one], [other]) => (one < other ? -1 : 1));
  return rows.map(([fault, times]) => `  ${String(times).padStart(8)}  ${fault}`).join("\n");
}

async function tellAll(options: Options): Promise<Told> {
  const { seed, stories, workers, fail } = options;
  if (stories < FEW || workers < 2) return tellMany(seed, stories, fail);
  const start = performance.now();
  let toldAt = start;
  return shareOut(options, (done) => {
    const now = performance.now();
    if (now - toldAt < PROGRESS_MS) return;
    toldAt = now;
    const rate = (done / (now - start)) * 1000;
    process.stderr.write(`${done} of ${stories} stories, ${rate.toFixed(1)} a second\n`);
  });
}

console.log(`seed ${options.seed}, ${options.stories} stories`);
const start = performance.now();
const told = await tellAll(options);
if (told.failed || options.trace) {
  const { trace, world } = await tell(told.failed?.seed ?? options.seed);
  if (options.stories === 1 || options.trace) console.log(trace.join("\n"));
  if (options.trace) console.log(`bytes: ${world.digest}`);
}
if (told.failed) {
  const { seed, failures } = told.failed;
  console.log(`a promise is broken in story ${seed}:\n${failures.map((what) => `  ${what}`).join("\n")}`);
  console.log(`see it with: npm run -s faults -- --seed ${seed} --stories 1`);
  process.exitCode = 1;
} else {
  const seconds = (performance.now() - start) / 1000;
  console.log(`faults applied:\n${table(told.applied)}`);
  console.log(`${told.stories} stories in ${seconds.toFixed(0)} s, promises broken: 0`);
}
