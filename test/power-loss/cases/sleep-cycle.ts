// A device that sleeps between its samples, with the power going anywhere in a wake: what it knew
// of the wakes before goes with it.

import type { Wake } from "../../../src/index.js";
import type { RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import type { Power } from "../../fakes/power.js";
import { type Case, multiply } from "../runner.js";
import { type Arrived, checkStamps, missing, noteArrivals, WAYS, type Way, World } from "../world.js";

interface Shape {
  readonly way: Way;
  readonly durable: boolean;
  /** Whether the device knows the time by itself; else it has the platform's. */
  readonly knowsTime: boolean;
}

interface Sleeping extends World {
  readonly shape: Shape;
  /** Samples taken, and those below which all must arrive. */
  taken: number;
  safe: number;
  /** In the middle of these the power went. */
  readonly unsure: Set<number>;
  readonly arrived: Arrived;
  readonly results: RpcResult[];
  runs: number;
}

const POINTS = 7;
const cycle = { everyMs: 60_000, connectEvery: 3 };
const PATIENCE_MS = 60_000;
const MOST_WAKES = 400;
const HOUR_MS = 3_600_000;
const UPLOAD = /\/(telemetry|attributes)$/;

function begin(shape: Shape): Sleeping {
  const world = new World(shape.way, ({ path }) => UPLOAD.test(path));
  const { platform, body } = world;
  platform.dates = () => body.clock.wall() ?? 0;
  body.knowsTime = shape.knowsTime;
  return Object.assign(world, {
    shape,
    taken: 0,
    safe: 0,
    unsure: new Set<number>(),
    arrived: noteArrivals(world),
    results: [],
    runs: 0,
  });
}

/** From power-on to the end of the power: wake after wake, each a start of its own. */
async function resume(world: Sleeping, power: Power): Promise<void> {
  for (let n = world.safe; n < world.taken; n++) world.unsure.add(n);
  world.safe = world.taken;
  let kept: string | undefined;
  for (let wakes = 0; !isDone(world); wakes++) {
    if (wakes > MOST_WAKES) throw new Error(`comes to no end: ${world.arrived.length} points arrived`);
    const wake = await wakeUp(world, power, kept);
    kept = wake.kept;
    world.safe = world.taken;
    if (world.results.length === 0 && world.runs === 0 && wake.connected) call(world);
    await world.body.clock.advance(wake.sleepMs);
    power.check();
  }
}

async function wakeUp(world: Sleeping, power: Power, kept: string | undefined): Promise<Wake> {
  const { durable } = world.shape;
  const { agent } = world.boot(power, { cycle, telemetry: { durable } });
  agent.rpc.handle("act", () => ++world.runs);
  agent.attributes.publish({ serial: "S-7" });
  const sample = () => (world.taken < POINTS ? { n: world.taken++ } : undefined);
  let wake: Wake | undefined;
  agent.runOnce({ sample, kept }).then(
    (ended) => {
      wake = ended;
    },
    (error) => power.on && world.problems.push(`a wake failed: ${error}`),
  );
  await world.until(power, "a wake", () => wake !== undefined, PATIENCE_MS);
  return wake as Wake;
}

function call(world: Sleeping): void {
  const results = world.platform.rpc(world.device, "act", {}, { timeoutMs: HOUR_MS });
  Object.assign(world, { results });
  world.runs = 0;
}

const isDone = (world: Sleeping): boolean =>
  world.taken === POINTS && missing(world).length === 0 && world.results.length === 1;

function check(world: Sleeping): void {
  const { durable, knowsTime } = world.shape;
  // The platform sends whole seconds, and what was delivered from memory left no time stamp behind.
  checkStamps(world.arrived, { slackMs: durable || knowsTime ? 0 : 1000 });
  if (world.runs > 1) throw new Error(`the handler ran ${world.runs} times`);
  const [result] = world.results;
  if (result?.kind !== "answer") throw new Error(`the caller got ${JSON.stringify(world.results)}`);
  if (world.platform.attributes(world.device).serial !== "S-7")
    throw new Error("the client attribute is not there");
}

const lists = { way: WAYS, durable: [true, false], knowsTime: [false, true] };

const cases = multiply(lists, (shape): Case<Sleeping> => {
  const { way, durable, knowsTime } = shape;
  return {
    name: `cycle/${way}-${durable ? "durable" : "staged"}-${knowsTime ? "timed" : "learnt"}`,
    begin: () => begin({ ...shape }),
    resume,
    check,
  };
});

/** All ways for the hardest shape, the clear one for the others. */
export const cycleCases: readonly Case[] = cases.filter(({ name }) => /clear|durable-learnt/.test(name));
