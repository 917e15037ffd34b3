// The agent in the simulator with memory that can't grow, no more than a board's: what does not fit ends the machine, and the test.
import test, { type ExecutionContext } from "ava";
import { assign, type Bench, DEVICE, idOf, openBench, until, updated } from "./bench.js";
import { boardMemory, boardProgram, creation, SLOT, SMALLEST } from "./board-memory.js";
import { inSimulator } from "./rig.js";

/** As hosts/esp32 has it. */
const telemetry = { bufferBytes: 4096, batchBytes: 4096 };
const SLOT_IN_SIMULATOR = 32;
/** Of an ESP32-C3. Over TLS the chip cases measure: a board's TLS is not in the engine. */
const PLAIN = boardMemory(SMALLEST, 3072);

test("these tests run in the engine's memory of the smallest chip, which is what manifest.json asks for", (t) => {
  t.is(creation().static, SMALLEST);
  const whole = ({ slots, stack, chunks }: typeof PLAIN) => (slots + stack) * SLOT + chunks;
  t.is(whole(PLAIN), SMALLEST);
  t.is(PLAIN.stack, creation().stack);
  t.true(PLAIN.chunks > 0);
});

/** Of the engine's stack, in slots: what the worst that is sent leaves unused. */
const STACK_LEFT = 64;

/** Prints the most that was in use, slots counted as on a board. */
function unharmed(t: ExecutionContext, { events, lines, most }: Bench): void {
  const crashes = events.filter(({ event }) => event === "crash");
  t.deepEqual(crashes, [], lines.slice(-10).join("\n"));
  const slots = (name: string): number => (most.get(name) ?? 0) / SLOT_IN_SIMULATOR;
  t.true(slots("Stack used") + STACK_LEFT <= PLAIN.stack, `a stack of ${slots("Stack used")} slots`);
  t.log(
    `at most ${slots("Slot used")} slots, a stack of ${slots("Stack used")} slots, ${most.get("Chunk used")} bytes of chunks`,
  );
}

const BURST = 500;

/** Bursts of points, RPCs that each end a poll, then an update. */
async function long(t: ExecutionContext, points: number, polls: number): Promise<void> {
  const bench = await openBench(t, await boardProgram(PLAIN), {
    secure: false,
    connections: 2,
    telemetry,
  });
  const { device, operator, platform } = bench;
  void device.start();
  const id = await idOf(operator);
  const status = () => operator.rpc.twoWay(id, "getStatus", null, { timeoutMs: 20_000 });
  await until("an answer", 60_000, () => status().catch(() => undefined));
  for (let sent = 0; sent < points; sent += BURST)
    await operator.rpc.twoWay(id, "burst", { points: BURST }, { timeoutMs: 60_000 });
  const all = { startTs: 0, endTs: Number.MAX_SAFE_INTEGER, limit: 2 * points, ascending: true };
  const arrived = (): number =>
    platform.core.devices.byName(DEVICE)?.series.range("temperature", all).length ?? 0;
  await until("all points", 120_000, () => (arrived() >= points ? true : undefined));
  for (let n = 0; n < polls; n++) await operator.rpc.oneWay(id, "getStatus", null, { timeoutMs: 20_000 });
  const received = bench.events.filter(({ event }) => event === "rpc.received").length;
  t.true(received >= polls, `${received} of ${polls}`);
  await assign(operator, id, 65_536);
  await updated(bench, id, 180_000);
  t.truthy(await status());
  t.log(`${arrived()} points, ${received} polls that brought an RPC, 1 update`);
  unharmed(t, bench);
}

inSimulator("in a board's memory, 10,000 points, 1,000 polls and an update over HTTP", (t) =>
  long(t, 10_000, 1000),
);
/** The agent takes 32. */
const LEVELS = [1, 5, 10, 20, 30, 31, 32, 33, 64];

inSimulator(
  "in a board's memory, an RPC of any depth is answered or refused, and the stack has room left",
  async (t) => {
    const bench = await openBench(t, await boardProgram(PLAIN), { secure: false, connections: 2, telemetry });
    const { device, operator } = bench;
    void device.start();
    const id = await idOf(operator);
    const status = (): Promise<unknown> => operator.rpc.twoWay(id, "getStatus", null, { timeoutMs: 20_000 });
    await until("an answer", 60_000, () => status().catch(() => undefined));
    for (const levels of LEVELS)
      for (const [before, after] of [
        ['{"a":', "}"],
        ["[", "]"],
      ] as const) {
        const params = JSON.parse(`{"v":${before.repeat(levels)}1${after.repeat(levels)}}`);
        const answer = await operator.rpc.twoWay(id, "echo", params, { timeoutMs: 20_000 });
        if (levels > 32) t.regex(JSON.stringify(answer), /PARAMS_TOO_LARGE|ANSWER_TOO_DEEP/, `${levels}`);
      }
    t.truthy(await status());
    unharmed(t, bench);
  },
);
