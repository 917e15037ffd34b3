// `firmware.spreadMs`: when a device of a fleet begins, and what a restart does to its wait.
import test from "ava";
import { Lamp } from "./lamp.js";

const MINUTE = 60_000;
const SPREAD_MS = 10 * MINUTE;
/** From the assignment until a device without a spread has begun, two connections. */
const SEEN_MS = 35_000;

async function assigned(spreadMs = SPREAD_MS): Promise<Lamp> {
  const lamp = new Lamp({ firmware: { spreadMs } });
  await lamp.pass(MINUTE);
  lamp.release("2.0.0", 20_000);
  return lamp;
}

/** When it may begin, as the store has it: ms since 1970, and 0 before it is known. */
function due({ machine }: Lamp): number {
  const text = new TextDecoder().decode(machine.store.values.get("firmware") ?? new Uint8Array());
  return Number(/"at":(\d+)/.exec(text)?.[1] ?? 0);
}

async function begun(lamp: Lamp): Promise<number> {
  await lamp.until(() => lamp.fetches.length > 0);
  return lamp.machine.clock.wall() ?? 0;
}

test("an update waits for as long as was drawn, reports what runs meanwhile, and is installed", async (t) => {
  const lamp = await assigned();
  const at = lamp.machine.clock.wall() ?? 0;
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const planned = due(lamp);
  t.true(planned > at && planned <= at + SEEN_MS + SPREAD_MS);
  t.deepEqual(lamp.states, []);
  t.true(Math.abs((await begun(lamp)) - planned) < 1000);
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"]);
});

test("restarts neither begin the wait again nor draw another, and the running version is reported after each", async (t) => {
  const lamp = await assigned(60 * MINUTE);
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const planned = due(lamp);
  for (let n = 0; n < 3; n++) {
    await lamp.pass(20_000);
    lamp.machine.off();
    await lamp.pass(1000);
    t.is(due(lamp), planned);
    const reports = lamp.platform.points(lamp.device, "current_fw_version").length;
    await lamp.pass(20_000);
    t.true(lamp.platform.points(lamp.device, "current_fw_version").length >= reports);
  }
  t.true(lamp.platform.points(lamp.device, "current_fw_version").length >= 4);
  t.true(Math.abs((await begun(lamp)) - planned) < 1000);
});

test("a device that was off when it was due begins as soon as it is back", async (t) => {
  const lamp = await assigned();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  lamp.machine.off();
  await lamp.machine.clock.advance(SPREAD_MS);
  const back = lamp.machine.clock.now();
  await begun(lamp);
  t.true(lamp.machine.clock.now() - back < SEEN_MS);
});

test("another assignment draws another wait, and one that is withdrawn is forgotten without a failure", async (t) => {
  const lamp = await assigned();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const first = due(lamp);
  lamp.release("3.0.0", 20_000);
  await lamp.until(() => due(lamp) !== first && due(lamp) > 0, SEEN_MS);
  lamp.assign(undefined);
  await lamp.until(() => due(lamp) === 0, SEEN_MS);
  await lamp.pass(SPREAD_MS + MINUTE);
  t.deepEqual([lamp.fetches, lamp.states], [[], []]);
});

test("a clock that is set back by a year does not make it wait for a year, and a refusal waits for nothing", async (t) => {
  const lamp = await assigned();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  const { clock } = lamp.machine;
  clock.setWall((clock.wall() ?? 0) - 365 * 24 * 60 * MINUTE);
  const from = clock.now();
  await begun(lamp);
  t.true(clock.now() - from <= 2 * SPREAD_MS);

  const refusing = new Lamp({ firmware: { spreadMs: SPREAD_MS, minimumVersion: "5.0.0" } });
  await refusing.pass(MINUTE);
  refusing.release("2.0.0", 20_000);
  await refusing.until(() => refusing.shown.state === "FAILED", SEEN_MS);
  t.regex(String(refusing.shown.error), /minimumVersion/);
});

test("without the time of day an update waits too, and begins", async (t) => {
  const lamp = new Lamp({
    firmware: { spreadMs: SPREAD_MS },
    agent: { telemetry: { timestamps: "platform" } },
  });
  lamp.hostOf = (host) => ({ ...host, clock: { ...host.clock, wall: () => undefined } });
  await lamp.pass(MINUTE);
  lamp.release("2.0.0", 20_000);
  const from = lamp.machine.clock.now();
  await lamp.until(() => due(lamp) > 0, SEEN_MS);
  lamp.machine.off();
  await begun(lamp);
  const took = lamp.machine.clock.now() - from;
  t.true(took > SEEN_MS && took <= 2 * (SEEN_MS + SPREAD_MS), `${took} ms`);
});
