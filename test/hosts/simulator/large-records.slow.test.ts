// Points, RPCs, attributes and an update at once, in TLS records of 16 KB: Node's TLS fills them, as Go's does. `-- --minutes 10` is the whole.
import { planMemory, SMALLEST } from "../../../hosts/esp32/memory-plan.js";
import { argument } from "../../arguments.js";
import { assign, DEVICE, idOf, openBench, until, updated } from "./bench.js";
import { boardMemory, boardProgram, LARGEST } from "./board-memory.js";
import { inSimulator } from "./rig.js";

const MINUTE = 60_000;
const MINUTES = Number(argument("minutes") ?? 2);
const UPDATE_BYTES = 1_048_576;
const [POINT_MS, RPC_MS, ATTRIBUTE_MS] = [100, 3000, 10_000];
const CHARACTERS = { rpc: 900, attribute: 8000 };

inSimulator(
  `in a board's memory, over TLS: points, RPCs, attributes of 8 KB and an update of 1 MiB at once, for ${MINUTES} minutes, end the machine not once`,
  async (t) => {
    t.timeout((MINUTES + 6) * MINUTE);
    const { requestBytes, answerBytes, attributeBytes, connections } = planMemory(SMALLEST).limits;
    const bench = await openBench(t, await boardProgram(boardMemory(LARGEST, 3520)), {
      secure: true,
      connections,
      intervalMs: POINT_MS,
      telemetry: { bufferBytes: 4096, batchBytes: 4096 },
      agent: { rpc: { requestBytes, answerBytes }, attributes: { answerBytes: attributeBytes } },
    });
    const { device, operator, events, lines, platform, most } = bench;
    void device.start();
    const id = await idOf(operator);
    const echo = () =>
      operator.rpc
        .twoWay(id, "echo", { v: "x".repeat(CHARACTERS.rpc) }, { timeoutMs: 20_000 })
        .catch(() => undefined);
    await until("an answer", MINUTE, echo);
    const end = Date.now() + MINUTES * MINUTE;
    let [rpcs, attributes, over] = [0, 0, false];
    const every = async (ms: number, step: () => Promise<unknown>): Promise<void> => {
      while (!over) {
        await step();
        await new Promise((go) => setTimeout(go, ms));
      }
    };
    const loops = [
      every(RPC_MS, async () => {
        if ((await echo()) !== undefined) rpcs++;
      }),
      every(ATTRIBUTE_MS, () => {
        const large = `${attributes++}`.padEnd(CHARACTERS.attribute, "y");
        return operator.attributes.set(id, "SHARED_SCOPE", { large });
      }),
    ];
    await assign(operator, id, UPDATE_BYTES);
    await new Promise((go) => setTimeout(go, end - Date.now()));
    await updated(bench, id, 5 * MINUTE);
    over = true;
    await Promise.all(loops);
    const crashes = events.filter(({ event }) => event === "crash");
    t.deepEqual(crashes, [], lines.slice(-10).join("\n"));
    const all = { startTs: 0, endTs: Number.MAX_SAFE_INTEGER, limit: 1_000_000, ascending: true };
    const points = platform.core.devices.byName(DEVICE)?.series.range("temperature", all).length ?? 0;
    t.true(points > (MINUTES * MINUTE) / POINT_MS / 2, `${points} points`);
    t.log(`${points} points, ${rpcs} RPCs, ${attributes} attributes, most ${JSON.stringify([...most])}`);
  },
);
