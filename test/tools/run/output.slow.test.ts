// A run whose output nobody reads.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ava from "ava";
import { image } from "./images.js";
import { temporaryState } from "./session.js";

const RUN = fileURLToPath(new URL("./stub-run.js", import.meta.url));
const LOGS = `setInterval(() => { for (let n = 0; n < 500; n++) console.log("x".repeat(400)); }, 10);`;
const MB = 1024;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** In kilobytes, as Linux counts them. */
const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

const test = process.platform === "linux" ? ava.serial : ava.serial.skip;

test("the memory of a run whose output nobody reads stays as it is", async (t) => {
  const stateDir = temporaryState(t);
  const app = join(stateDir, "app.mjs");
  writeFileSync(app, image("1", LOGS));
  const child = spawn(process.execPath, [...process.execArgv, RUN, stateDir, app], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  t.teardown(() => child.kill("SIGKILL"));
  await pause(5000);
  const before = memoryOf(child.pid ?? 0);
  await pause(10_000);
  const grown = memoryOf(child.pid ?? 0) - before;
  t.log(`${Math.round(grown / MB)} MB more after 10 s`);
  t.true(grown < 60 * MB, `${grown} kB`);
  let text = "";
  child.stdout.on("data", (piece) => {
    text += piece;
  });
  for (let n = 0; n < 200 && !text.includes("left out"); n++) await pause(50);
  t.regex(text, /\d+ lines were left out: nobody read the output in time/);
  child.kill("SIGTERM");
  await once(child, "exit");
});
