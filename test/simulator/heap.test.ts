// The agent in the simulator with memory that can't grow: what does not fit ends the machine, and the test. (3,584 slots, 81,920 bytes of
// chunks and a stack of 512 slots: 147,456 bytes as a board counts slots.)
import type { ExecutionContext } from "ava";
import { type Bench, idOf, openBench, until } from "./bench.js";
import { inSimulator, programOf } from "./rig.js";

const BOARD = "test/simulator/board";
/** As hosts/esp32 has it. */
const telemetry = { bufferBytes: 4096, batchBytes: 4096 };

function unharmed(t: ExecutionContext, { events, lines, most }: Bench): void {
  const crashes = events.filter(({ event }) => event === "crash");
  t.deepEqual(crashes, [], lines.slice(-10).join("\n"));
  t.log([...most].map(([name, value]) => `${name} ${value}`).join("; "));
}

inSimulator(
  "over TLS, parameters of 64 KB and an answer of 100 kB are refused or told, and harm nothing",
  async (t) => {
    const bench = await openBench(t, await programOf(BOARD), { secure: true, connections: 2, telemetry });
    const { device, operator } = bench;
    void device.start();
    const id = await idOf(operator);
    const status = (): Promise<unknown> => operator.rpc.twoWay(id, "getStatus", null, { timeoutMs: 20_000 });
    await until("an answer", 60_000, () => status().catch(() => undefined));
    const large = await operator.rpc.twoWay(id, "echo", { text: "x".repeat(64_000) }, { timeoutMs: 30_000 });
    t.regex(JSON.stringify(large), /PARAMS_TOO_LARGE/);
    await operator.attributes.set(id, "SHARED_SCOPE", { interval: 0.5, large: "y".repeat(100_000) });
    const keys = { sharedKeys: ["large"] };
    const read = await operator.rpc
      .twoWay(id, "readAttributes", keys, { timeoutMs: 30_000 })
      .catch((error: unknown) => error);
    t.log(JSON.stringify(read).slice(0, 200));
    t.truthy(await status());
    unharmed(t, bench);
  },
);
