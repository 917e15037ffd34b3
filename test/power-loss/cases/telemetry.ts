// Telemetry from `record` to the platform, and the time stamps it gets when the time is learnt
// late.

import type { Agent } from "../../../src/index.js";
import type { Power } from "../../fakes/power.js";
import { type Case, multiply } from "../runner.js";
import { type Arrived, checkStamps, missing, noteArrivals, WAYS, type Way, World } from "../world.js";

interface Shape {
  readonly way: Way;
  readonly durable: boolean;
  readonly timestamps: "device" | "platform";
  /** When the device learns the time: at once, some time after each start, or only in the end. */
  readonly time: "known" | "late" | "last";
}

interface Recording extends World {
  readonly shape: Shape;
  recorded: number;
  /** The power ended the last `record`: its point may be there. */
  recording: boolean;
  /** Points below this must arrive, but for those that a power loss may have taken. */
  safe: number;
  readonly unsure: Set<number>;
  readonly arrived: Arrived;
}

const POINTS = 9;
/** Two are longer than what `durable: false` risks. */
const PAUSE_MS = 600;
const TOGETHER = 3;
const STAGE_MS = 1000;
const LATE_MS = 1500;
const PATIENCE_MS = 10 * 60_000;
const UNREADABLE = "moteDroppedUnreadable";
const TELEMETRY = /\/telemetry$/;

function begin(shape: Shape): Recording {
  const world = new World(shape.way, ({ path }) => TELEMETRY.test(path));
  world.body.knowsTime = shape.time === "known";
  return Object.assign(world, {
    shape,
    recorded: 0,
    recording: false,
    safe: 0,
    unsure: new Set<number>(),
    arrived: noteArrivals(world),
  });
}

async function resume(world: Recording, power: Power): Promise<void> {
  const { shape, body } = world;
  const { durable, timestamps, time } = shape;
  body.knowsTime = time === "known";
  const { agent, host } = world.boot(power, { telemetry: { durable, timestamps } });
  if (time === "late")
    host.clock.timer(LATE_MS, () => {
      body.knowsTime = true;
    });
  agent.start();
  // Of what the power ended the application knows nothing, and goes on behind it.
  if (world.recording) world.recorded++;
  world.recording = false;
  for (let n = world.safe; n < world.recorded; n++) world.unsure.add(n);
  for (let before = world.recorded; world.recorded < POINTS; before = world.recorded) {
    for (let i = 0; i < TOGETHER; i++) record(world, agent);
    await body.clock.advance(PAUSE_MS);
    power.check();
    world.safe = Math.max(world.safe, before);
  }
  await body.clock.advance(STAGE_MS);
  power.check();
  world.safe = world.recorded;
  body.knowsTime = true;
  let flushed = false;
  void agent.flush({ timeoutMs: PATIENCE_MS }).then(({ waiting }) => {
    flushed = waiting === 0;
  });
  await world.until(power, "delivered", () => flushed && missing(world).length === 0, PATIENCE_MS);
}

function record(world: Recording, agent: Agent): void {
  world.recording = true;
  agent.telemetry.record({ n: world.recorded });
  world.recording = false;
  world.recorded++;
  if (world.shape.durable) world.safe = world.recorded;
}

function check(world: Recording): void {
  checkStamps(world.arrived, { mayChange: world.shape.timestamps === "platform" });
  const lost = missing(world);
  if (lost.length > 0) throw new Error(`points ${lost} are lost`);
  const { series } = world.device;
  const dropped = series.keys().filter((key) => key.startsWith("moteDropped") && key !== UNREADABLE);
  if (dropped.length > 0) throw new Error(`drops were reported: ${dropped}`);
  // What each cut write left may look like a point that was damaged later.
  const unreadable = Number(series.latest(UNREADABLE)?.value ?? 0);
  if (unreadable > world.body.starts) throw new Error(`${unreadable} points were reported as unreadable`);
}

const shapes = {
  way: WAYS,
  durable: [true, false],
  timestamps: ["device", "platform"] as const,
  time: ["known", "late", "last"] as const,
};

export const telemetryCases: readonly Case[] = multiply(shapes, (shape): Case<Recording> => {
  const { way, durable, timestamps, time } = shape;
  // Who has the platform's time needs none.
  const clock = timestamps === "platform" ? "platform" : time;
  return {
    name: `telemetry/${way}-${durable ? "durable" : "staged"}-${clock}`,
    begin: () => begin(shape),
    resume,
    check,
  };
});
