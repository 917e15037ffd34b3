// node scripts/test.mjs [--all]: runs the quick tests, with --all every test.
import { spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const all = process.argv.includes("--all");
const seed = process.env.MOTE_SEED ?? String(randomInt(2 ** 31));
const again = `MOTE_SEED=${seed} npm ${all ? "run test:all" : "test"}`;

console.log(`samples are drawn by seed ${seed}; the same again: ${again}`);
const env = { ...process.env, MOTE_TESTS: all ? "all" : "quick", MOTE_SEED: seed };
const ava = join(root, "node_modules/ava/entrypoints/cli.mjs");
const [code] = await once(spawn(process.execPath, [ava], { cwd: root, env, stdio: "inherit" }), "close");
if (code !== 0) {
  console.log(`failed; the same again: ${again}`);
  process.exitCode = 1;
}
