// node scripts/test.mjs [--all]: runs the quick tests, with --all the slow ones as well, and says what they cost.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const all = process.argv.includes("--all");
const seed = process.env.MOTE_SEED ?? String(randomInt(2 ** 31));
const again = `MOTE_SEED=${seed} npm ${all ? "run test:all" : "test"}`;
/** So many of the dearest files are listed. */
const LISTED = 10;

/** From what test/cost.ts wrote: the dearest files, and all together. */
function listCosts(file, seconds) {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  const costs = lines.map((line) => JSON.parse(line)).sort((one, other) => other.cpu - one.cpu);
  const row = (cpu, wall, what) =>
    console.log(`${cpu.toFixed(1).padStart(8)} s CPU ${wall.toFixed(1).padStart(7)} s  ${what}`);
  for (const { cpu, wall, file } of costs.slice(0, LISTED)) row(cpu, wall, relative(root, file));
  const total = costs.reduce((sum, { cpu }) => sum + cpu, 0);
  row(total, seconds, `in all, ${costs.length} processes`);
}

/** Runs the `quick` or the `slow` ones; true if all passed. */
async function run(which, costs) {
  const env = { ...process.env, MOTE_TEST_RUN: which, MOTE_TEST_COSTS: costs, MOTE_SEED: seed };
  if (all) env.MOTE_TEST_ALL = "1";
  const ava = join(root, "node_modules/ava/entrypoints/cli.mjs");
  const [code] = await once(spawn(process.execPath, [ava], { cwd: root, env, stdio: "inherit" }), "close");
  return code === 0;
}

console.log(`samples are drawn by seed ${seed}; the same again: ${again}`);
const place = mkdtempSync(join(tmpdir(), "mote-test-"));
const costs = join(place, "costs");
const begun = performance.now();
let passed = await run("quick", costs);
if (all) passed = (await run("slow", costs)) && passed;
listCosts(costs, (performance.now() - begun) / 1000);
rmSync(place, { recursive: true, force: true });
if (!passed) {
  console.log(`failed; the same again: ${again}`);
  process.exitCode = 1;
}
