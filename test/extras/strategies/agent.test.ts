// Strategies of an agent on a platform, in both modes.
import type { ExecutionContext } from "ava";
import { Strategies, type StrategiesOptions } from "../../../extras/strategies/index.js";
import { NAME, type Rig, startRig, test } from "../../src/agent/rig.js";

const MINUTE = 60_000;
const OPTIONS = { keys: { temperature: { onChange: 0.5 } }, attribute: "reportStrategies" };

function begin(rig: Rig, options: StrategiesOptions = OPTIONS): Strategies {
  const agent = rig.agent();
  const strategies = new Strategies(agent, rig.host, options);
  agent.start();
  return strategies;
}

/** Records a temperature a second that rises by a tenth each time. */
async function rise(rig: Rig, strategies: Strategies, from: number, values: number): Promise<void> {
  for (let n = 0; n < values; n++) {
    strategies.record({ temperature: from + n / 10 });
    await rig.clock.advance(1000);
  }
}

const values = (rig: Rig, key: string): unknown[] =>
  rig.platform.points(rig.platform.device(NAME), key).map(({ value }) => value);

async function online(t: ExecutionContext): Promise<{ rig: Rig; strategies: Strategies }> {
  const rig = startRig(t);
  const strategies = begin(rig);
  await rig.clock.advance(5000);
  return { rig, strategies };
}

test("a shared attribute sets strategies, also over a restart without the platform; deleted, what is built in holds again", async (t) => {
  const { rig, strategies } = await online(t);
  const device = rig.platform.device(NAME);
  await rise(rig, strategies, 20, 11);
  await rig.clock.advance(MINUTE);
  t.deepEqual(values(rig, "temperature"), [20, 20.5, 21]);
  rig.platform.setShared(device, {
    reportStrategies: { temperature: { onChange: 1 }, power: { windowMs: MINUTE } },
  });
  await rig.clock.advance(MINUTE);
  await rise(rig, strategies, 30, 11);
  rig.powerOff();
  rig.platform.fault = () => "drop";
  const again = begin(rig);
  await rise(rig, again, 40, 11);
  again.record({ power: 3 });
  again.record({ power: 5 });
  rig.platform.fault = undefined;
  await rig.clock.advance(10 * MINUTE);
  t.deepEqual(values(rig, "temperature").slice(3), [30, 31, 40, 41]);
  t.deepEqual(values(rig, "power"), []);
  t.deepEqual([values(rig, "power_mean"), values(rig, "power_count")], [[4], [2]]);
  rig.platform.deleteShared(device, ["reportStrategies"]);
  await rig.clock.advance(MINUTE);
  await rise(rig, again, 50, 6);
  await rig.clock.advance(MINUTE);
  t.deepEqual(values(rig, "temperature").slice(7), [50, 50.5]);
});

test("a shared attribute with a mistake changes nothing, and the operator reads what is wrong", async (t) => {
  const { rig, strategies } = await online(t);
  const device = rig.platform.device(NAME);
  const error = () => rig.platform.attributes(device).reportStrategiesError;
  t.is(error(), undefined);
  rig.platform.setShared(device, { reportStrategies: { temperature: { onChange: 1 } } });
  await rig.clock.advance(MINUTE);
  t.is(error(), "");
  for (const wrong of [
    '{"temperature":',
    "off",
    5,
    { temperature: { onChange: "a lot" }, power: { windowMs: 5 } },
  ]) {
    rig.platform.setShared(device, { reportStrategies: wrong });
    await rig.clock.advance(MINUTE);
    t.not(error(), "");
  }
  t.is(
    error(),
    "temperature.onChange is a number from 0 to 1000000000000000; power.windowMs is a whole number from 100 to 604800000",
  );
  await rise(rig, strategies, 20, 11);
  rig.platform.setShared(device, { reportStrategies: {} });
  await rig.clock.advance(MINUTE);
  t.is(error(), "");
  t.deepEqual(values(rig, "temperature"), [20, 21]);
});

test("a window has the time stamp of its end, also where the time was learnt after it", async (t) => {
  const { rig, strategies } = await online(t);
  const wall = rig.clock.wall()!;
  rig.powerOff();
  strategies.close();
  rig.clock.setWall(undefined);
  rig.platform.fault = () => "drop";
  const again = begin(rig, { keys: { power: { windowMs: MINUTE } } });
  again.record({ power: 1 });
  await rig.clock.advance(10 * MINUTE);
  rig.clock.setWall(wall + 10 * MINUTE);
  rig.platform.fault = undefined;
  await rig.clock.advance(10 * MINUTE);
  const found = rig.platform.points(rig.platform.device(NAME), "power_max");
  t.deepEqual(found, [{ ts: wall + MINUTE, value: 1 }]);
});
