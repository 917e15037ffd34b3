// The engine's steps for a point, a wake and an RPC, and the slots of an idle agent, on the XS
// engine of the tests. The engine loads modules into RAM and gives functions a name and a length,
// so slots of a board are fewer.
import { fakeHost } from "../test/fakes/host.js";
import { Bridge } from "../test/xs/engine/bridge.js";
import { bundle } from "../test/xs/engine/bundle.js";
import { ENTRY, standStill } from "../test/xs/engine/still.js";
import { Engine } from "../test/xs/engine/worker.js";
import { answerBytes } from "../tools/platform/device/answer-bytes.js";
import { response } from "../tools/platform/device/messages.js";

const WARM = 1000;
const POINTS = 2000;
const BATCH = 50;
const LIMIT_STEPS = 50_000_000_000;
/**
 * Points in memory only or on flash as well, recorded to acknowledged; or the object built, and
 * JSON.stringify.
 */
const SUBJECTS = { "in memory": "ram", durable: "durable", "JSON.stringify alone": "bare" };

/** Agent and machine are in one engine: see guest/machine.ts. */
export async function stepsOnXs(): Promise<Record<string, number>> {
  const { whole } = answerBytes(response(200), 0);
  const answer = Buffer.from(whole).toString("latin1").split(new Date(0).toUTCString());
  const script = await bundle('import "./bench/guest/points.ts";', { ANSWER: JSON.stringify(answer) });
  const engine = new Engine({ limitSteps: LIMIT_STEPS, output: (text) => process.stderr.write(text) });
  try {
    await engine.evaluate(script);
    const command = (what: string, points: number) =>
      engine.command(new TextEncoder().encode(JSON.stringify({ what, points })));
    const steps: Record<string, number> = {};
    for (const [name, what] of Object.entries(SUBJECTS)) {
      // The first points of an agent cost what its start does.
      await command(what, WARM);
      if (what !== "bare") {
        const [, body] = Buffer.from((await command("last", 0)).bytes)
          .toString()
          .split("\r\n\r\n");
        if (JSON.parse(body ?? "null").length !== BATCH)
          throw new Error("the last request has no whole batch");
      }
      steps[name] = Math.round(((await command(what, POINTS)).compute / POINTS) * 10) / 10;
    }
    steps["a wake that does not connect"] = await stepsOfWake();
    steps["a two-way RPC"] = await stepsOfRpc();
    return steps;
  } finally {
    await engine.close();
  }
}

const WAKES = { warm: 12, counted: 20 };

/** Steps of a wake that does not connect. Its start reads 12 to 32 points of the newest sector. */
async function stepsOfWake(): Promise<number> {
  const script = await bundle('import "./bench/guest/wakes.ts";', { ANSWER: JSON.stringify(["", ""]) });
  const engine = new Engine({ limitSteps: LIMIT_STEPS, output: (text) => process.stderr.write(text) });
  try {
    await engine.evaluate(script);
    const run = (points: number) => engine.command(new TextEncoder().encode(JSON.stringify({ points })));
    await run(WAKES.warm);
    return Math.round((await run(WAKES.counted)).compute / WAKES.counted);
  } finally {
    await engine.close();
  }
}

const CALLS = { warm: 3, counted: 20, apartMs: 2000 };

/** Steps from one RPC to the next, each answered at once, polls included. */
async function stepsOfRpc(): Promise<number> {
  const ends: (() => Promise<void>)[] = [];
  try {
    const rig = { teardown: (end: () => Promise<void>) => void ends.push(end) };
    const { bridge, clock, device, platform } = await standStill(
      rig,
      {},
      'agent.rpc.handle("echo", (params) => params)',
    );
    const call = async (n: number): Promise<void> => {
      platform.rpc(device, "echo", { n });
      await clock.advance(CALLS.apartMs);
    };
    for (let n = 0; n < CALLS.warm; n++) await call(n);
    const before = bridge.compute;
    for (let n = 0; n < CALLS.counted; n++) await call(n);
    return Math.round((bridge.compute - before) / CALLS.counted);
  } finally {
    for (const end of ends) await end();
  }
}

/** Slots in use with an idle agent, less those with its modules loaded and no agent. */
export async function slotsOnXs(): Promise<Record<string, number>> {
  const ends: (() => Promise<void>)[] = [];
  const slots: Record<string, number> = {};
  try {
    for (const connections of [1, 2, 3] as const) {
      const bare = await Bridge.start(fakeHost(), { entry: ENTRY });
      ends.push(() => bare.close());
      const still = await standStill({ teardown: (end) => void ends.push(end) }, { connections });
      slots[`${connections} connection${connections > 1 ? "s" : ""}`] =
        (await still.slots()) - (await bare.slots());
    }
    return slots;
  } finally {
    for (const end of ends) await end();
  }
}
