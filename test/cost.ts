// Loaded before each test file: at its end what it cost is written down, for the list that scripts/test.mjs prints.
import { appendFileSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import test from "ava";

const { MOTE_TEST_COSTS } = process.env;
/** Of the times in /proc: always 100 on Linux. */
const TICKS_A_SECOND = 100;

/** Seconds of CPU of this process and of those that it started and that have ended. Elsewhere than on Linux its own. */
function cpuSeconds(): number {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_A_SECOND;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
}

if (MOTE_TEST_COSTS) {
  process.on("exit", () => {
    const cost = { file: fileURLToPath(test.meta.file), cpu: cpuSeconds(), wall: performance.now() / 1000 };
    appendFileSync(MOTE_TEST_COSTS, `${JSON.stringify(cost)}\n`);
  });
}
