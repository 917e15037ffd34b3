import { application, Bench, imageOf, leastOf, type Memory, UPDATE_MS } from "../bench.js";
import { type Case, check, type Figures } from "../case.js";

const named = (when: string, memory: Memory): Figures =>
  Object.fromEntries(Object.entries(memory).map(([key, value]) => [`${when}.${key}`, value]));

/** Longer than the task watchdog waits. */
const STILL_MS = 45_000;

async function peaks(secure: boolean): Promise<Figures> {
  const more = { connections: 3 };
  await using bench = await Bench.open(secure ? "memory-tls" : "memory", { secure, more });
  await bench.online();
  const rest = await bench.memory();
  await bench.assign("2.0.0", application(await imageOf({ version: "2.0.0", secure, more })));
  const seen: Memory[] = [];
  await bench.until(UPDATE_MS, "the download", async () => {
    // It may be restarting already. After the restart, its counters begin again.
    const now = await bench.memory().catch(() => undefined);
    if (now) seen.push(now);
    return ["DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"].includes(String(await bench.latest("fw_state")));
  });
  check(seen.length > 0, "the board did not answer during the update");
  return { ...named("rest", rest), ...named("download", leastOf(seen)) };
}

export const MEMORY: Case = {
  name: "memory",
  title: "heap and stack at rest and at the peak of an update",
  run: () => peaks(false),
};

export const MEMORY_TLS: Case = {
  name: "memory-tls",
  title: "heap and stack at rest and at the peak of an update over TLS",
  run: () => peaks(true),
};

export const NO_MEMORY: Case = {
  name: "no-memory",
  title: "an engine that no piece of memory holds is said on the console, and the board does not restart",
  async run() {
    await using bench = await Bench.open("no-memory", { engine: 300_000 });
    bench.board.on();
    const line = await bench.board.line(/mote: no memory for the engine/, 60_000);
    await new Promise((go) => setTimeout(go, STILL_MS));
    const starts = bench.board.lines.filter((text) => text.startsWith("rst:")).length;
    check(starts === 1, `it was started ${starts} times`);
    return { line };
  },
};
