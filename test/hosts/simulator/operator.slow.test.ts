// Hours of a hostile operator, by a clock that is faster than the machine's: `-- --hours 24` takes
// half an hour. In the block of an ESP32-S3 or C6, because that of a C3 is too small for a fixed
// split into slots and chunks: a board moves memory between them (chip case `operator`).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ExecutionContext } from "ava";
import { SMALLEST as POOLS, planMemory } from "../../../hosts/esp32/memory-plan.js";
import { CHIPS } from "../../../tools/moddable/esp32/chips.js";
import type { Clock } from "../../../tools/platform/core/common/clock.js";
import type { Device } from "../../../tools/platform/core/devices.js";
import { parseJson } from "../../../tools/platform/core/json/json-reader.js";
import type { RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import { typed } from "../../../tools/platform/core/values.js";
import { NodeClock } from "../../../tools/platform/node-clock.js";
import { PROJECT } from "../../../tools/project.js";
import { argument } from "../../arguments.js";
import { Dice } from "../../simulation/dice.js";
import { hostileDeeds } from "../hostile-operator.js";
import { assign, type Bench, DEVICE, openBench, until } from "./bench.js";
import { inSimulator, programOf } from "./rig.js";

const HOURS = Number(argument("hours") ?? 1);
const SEED = Number(process.env.MOTE_SEED ?? 1);
const SPEED = 48;
const SINCE = Date.now();
const HOUR = 3_600_000;
/** Of the device's time. */
const ANSWER_MS = 240_000;
const UPDATE_EVERY_MS = HOUR;
const INTERVAL_MS = 10_000;

interface Board {
  bundle(root: string, entry: string, options: object): Promise<{ code: string }>;
}

class FastClock implements Clock {
  readonly #clock = new NodeClock();

  now(): number {
    return SINCE + (this.#clock.now() - SINCE) * SPEED;
  }

  timer(ms: number, callback: () => void): () => void {
    return this.#clock.timer(ms / SPEED, callback);
  }
}

/** The sample application, its clock replaced. */
async function fastProgram(): Promise<string> {
  const clock = join(PROJECT, "test/hosts/simulator/guest/fast-clock.ts");
  const board: Board = await import(pathToFileURL(join(PROJECT, "scripts/board.mjs")).href);
  const { code } = await board.bundle(PROJECT, "hosts/simulator/index.ts", {
    define: { SPEED: String(SPEED), SINCE: String(SINCE) },
    plugins: [
      {
        name: "fast",
        resolveId: (name: string, importer?: string) =>
          name.endsWith("xs/clock.js") && importer !== clock ? clock : null,
      },
    ],
  });
  const folder = join(PROJECT, "dist/simulator/fast");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "mote-simulator.js"), code);
  const modules = { "~": "../../../dist/xs/mote-simulator", "mote-simulator": "../fast/mote-simulator" };
  return boardProgram("fast", modules);
}

/** Bytes of a slot on a board; the simulator's are larger, chunks are as large. */
const SLOT = 16;
/** With 3,840 the slots are too few, with 5,000 the chunks too small. */
const SLOTS = 4400;

/** The sample application in the engine's largest block on a board: slots, the stack, and chunks in the rest. */
function boardProgram(name: string, modules: Record<string, string>): Promise<string> {
  const folder = `dist/simulator/${name}-${SLOTS}`;
  const { stack } = JSON.parse(readFileSync(join(PROJECT, "manifest.json"), "utf8")).creation;
  const block = Math.max(...CHIPS.map(({ engine }) => engine));
  const creation = {
    static: 0,
    chunk: { initial: block - (SLOTS + stack) * SLOT, incremental: 0 },
    heap: { initial: SLOTS, incremental: 0 },
    stack,
    keys: { initial: 64, incremental: 32 },
  };
  mkdirSync(join(PROJECT, folder), { recursive: true });
  const include = ["../../../hosts/simulator/program/manifest.json"];
  const manifest = { include, modules, platforms: { lin: { creation } } };
  writeFileSync(join(PROJECT, folder, "manifest.json"), JSON.stringify(manifest, null, 2));
  return programOf(folder);
}

function call(clock: Clock, device: Device, method: string, params: unknown): Promise<RpcResult> {
  return new Promise((result) => {
    const expiresAt = clock.now() + ANSWER_MS;
    device.rpc.send({ method, params: JSON.stringify(params), oneWay: false, expiresAt, result });
  });
}

/** As the REST API reads them. */
const shared = (values: Record<string, unknown>) =>
  Object.entries(values).map(([key, value]) => [key, typed(parseJson(JSON.stringify(value))) ?? ""] as const);

async function operate(
  t: ExecutionContext,
  { platform, operator, events, lines, most, device: run }: Bench,
  clock: Clock,
) {
  const { core } = platform;
  const dice = new Dice(SEED);
  void run.start();
  const device = await until("the device", 60_000, () => core.devices.byName(DEVICE));
  const ask = (method: string, params: unknown) => call(clock, device, method, params);
  const deeds = hostileDeeds(dice, planMemory(POOLS).limits.requestBytes, {
    echo: (params) => ask("echo", params),
    share: async (values) => core.saveAttributes(device, "SHARED_SCOPE", shared(values)),
  });
  const began = clock.now();
  const end = began + HOURS * HOUR;
  let [done, answered, updates] = [0, 0, 0];
  while (clock.now() < end) {
    if (clock.now() >= began + updates * UPDATE_EVERY_MS) {
      updates++;
      await assign(operator, device.id, 65_536).catch(() => undefined);
    }
    await dice.pick(deeds)();
    done++;
    if ((await ask("getStatus", null)).kind === "answer") answered++;
    t.deepEqual(
      events.filter(({ event }) => event === "crash"),
      [],
      `deed ${done}: ${lines.slice(-10).join("\n")}`,
    );
  }
  const all = { startTs: 0, endTs: Number.MAX_SAFE_INTEGER, limit: 1_000_000, ascending: true };
  const points = device.series.range("temperature", all).length;
  const used = [...most].filter(([name]) => /used/i.test(name)).map(([name, value]) => `${name} ${value}`);
  t.log(
    `${HOURS} h, seed ${SEED}: ${done} deeds, ${answered} answers after them, ${points} points, ${updates} updates; ${used.join(", ")}`,
  );
  // By its own clock, an update's restart aside.
  t.true(points > (0.9 * HOURS * HOUR) / INTERVAL_MS, `${points} points`);
  t.true(answered > 0.9 * done, `${answered} of ${done}`);
}

inSimulator(
  `a hostile operator for ${HOURS} hours never ends a machine with a board's memory (seed ${SEED})`,
  async (t) => {
    t.timeout((HOURS * HOUR) / SPEED + 300_000);
    const clock = new FastClock();
    const { requestBytes, answerBytes, attributeBytes, connections } = planMemory(POOLS).limits;
    const agent = { rpc: { requestBytes, answerBytes }, attributes: { answerBytes: attributeBytes } };
    const telemetry = { bufferBytes: 4096, batchBytes: 4096 };
    const bench = await openBench(t, await fastProgram(), {
      connections,
      telemetry,
      agent,
      clock,
      intervalMs: INTERVAL_MS,
    });
    await operate(t, bench, clock);
  },
);
