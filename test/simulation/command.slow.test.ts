// The command that simulates runs, in processes of its own.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import test from "ava";
import { simulate } from "./simulated-run.js";
import { shareOut } from "./workers.js";

const run = promisify(execFile);
const COMMAND = fileURLToPath(new URL("./command.js", import.meta.url));

test("the command simulates a run as this process does, byte by byte", async (t) => {
  const { stdout } = await run(process.execPath, [COMMAND, "--seed", "7", "--runs", "1", "--trace"]);
  const { trace, world } = await simulate(7);
  t.true(stdout.includes(`bytes: ${world.digest}\n`));
  t.true(stdout.includes(trace.join("\n")));
  t.true(stdout.startsWith("seed 7, 1 runs\n"));
  t.true(stdout.includes("1 runs in"));
});

test("the command prints the seed that it took by chance", async (t) => {
  const { stdout } = await run(process.execPath, [COMMAND, "--runs", "0"]);
  t.regex(stdout, /^seed \d+, 0 runs\n/);
});

test("the command refuses what is no number", async (t) => {
  const failed = await t.throwsAsync(run(process.execPath, [COMMAND, "--seed", "x"]));
  t.regex(failed.message, /a whole number is expected/);
});

test("the command ends with 1 at the first broken promise, and says how to see it", async (t) => {
  const args = ["--seed", "41", "--runs", "3", "--fail", "42"];
  const failed: Partial<{ code: number; stdout: string }> = await run(process.execPath, [
    COMMAND,
    ...args,
  ]).then(
    () => ({}),
    (error) => error,
  );
  t.is(failed.code, 1);
  t.true(failed.stdout?.includes("a promise is broken in run 42:\n  failed on purpose\n"));
  t.true(failed.stdout?.endsWith("see it with: node scripts/campaign.mjs faults --seed 42 --runs 1\n"));
});

test("processes share the runs out, and each is run once", async (t) => {
  const outcome = await shareOut({ seed: 1, runs: 25, workers: 2 }, () => {});
  t.is(outcome.runs, 25);
  t.is(outcome.failed, undefined);
});

test("the lowest seed that fails is the one reported, however many processes there are", async (t) => {
  for (const workers of [1, 3]) {
    const outcome = await shareOut({ seed: 1, runs: 30, workers, fail: 12 }, () => {});
    t.deepEqual(outcome.failed, { seed: 12, failures: ["failed on purpose"] });
  }
});
