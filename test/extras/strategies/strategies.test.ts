import test from "ava";
import { Strategies } from "../../../extras/strategies/index.js";
import { StrategiesRig, WALL } from "./rig.js";

const HOUR = 3_600_000;
/** Records the values of one key one after the other, and says which were reported. */
function reported(rig: StrategiesRig, key: string, values: readonly unknown[]): unknown[] {
  for (const value of values) rig.strategies.record({ [key]: value });
  return rig.taken().map((one) => one[key]);
}

test("a key without a strategy is reported each time, and needs no timer", (t) => {
  const rig = new StrategiesRig();
  t.deepEqual(reported(rig, "free", [1, 1, "a", "a"]), [1, 1, "a", "a"]);
  t.is(rig.clock.waiting, 0);
});

test("on change: the first value, and those that moved away from the value last reported, not from the last seen", (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 1 } } });
  t.deepEqual(reported(rig, "x", [20, 20.4, 20.8, 20.9, 21, 21.9, 20.1, 20]), [20, 21, 20]);
});

test("a dead band of 0 leaves out only what is equal", (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 0 } } });
  t.deepEqual(reported(rig, "x", [1, 1, 1.000001, 1.000001, 0, -0]), [1, 1.000001, 0]);
});

test("a step as wide as the dead band counts, whatever its decimals are rounded to", (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 0.1 } } });
  const steps = Array.from({ length: 1000 }, (_, i) => i / 10);
  t.deepEqual(reported(rig, "x", steps), steps);
  const narrow = Array.from({ length: 1000 }, (_, i) => 100 + (i % 2) * 0.0999999);
  t.deepEqual(reported(rig, "x", narrow), [100]);
});

test("a dead band in percent is of the value last reported; with both the wider counts", (t) => {
  const rig = new StrategiesRig({
    keys: { x: { onChangePercent: 10 }, y: { onChangePercent: 10, onChange: 1 } },
  });
  t.deepEqual(reported(rig, "x", [100, 109, 110, 120, 121, 110]), [100, 110, 121]);
  t.deepEqual(reported(rig, "x", [0, 0.001, 0]), [0, 0.001, 0]);
  t.deepEqual(reported(rig, "y", [0, 0.9, 1, 1.9, 100, 109, 90]), [0, 1, 100, 90]);
});

test("texts, booleans and JSON are reported when they differ, and another kind of value is another value", (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 5 } } });
  const values = [
    "a",
    "a",
    "b",
    true,
    true,
    "true",
    { a: 1 },
    { a: 1 },
    { a: 2 },
    [1],
    [1],
    '{"a":2}',
    3,
    3,
    "3",
  ];
  t.deepEqual(reported(rig, "x", values), [
    "a",
    "b",
    true,
    "true",
    { a: 1 },
    { a: 2 },
    [1],
    '{"a":2}',
    3,
    "3",
  ]);
});

test("JSON is compared as the agent writes it, whatever its toJSON says", (t) => {
  class Reading {
    v = 1;
    toJSON(): string {
      return "always";
    }
  }
  const rig = new StrategiesRig({ keys: { x: { onChange: 0 } } });
  const [one, other] = [new Reading(), Object.assign(new Reading(), { v: 2 })];
  t.deepEqual(reported(rig, "x", [one, one, other]), [{ v: 1 }, { v: 2 }]);
});

test("a text too long to be kept is reported each time and not repeated by a heartbeat", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 0, heartbeatMs: 1000 } } });
  const [kept, long] = ["x".repeat(62), "x".repeat(63)];
  t.deepEqual(reported(rig, "x", [kept, kept, long, long]), [kept, long, long]);
  await rig.pass(10_000);
  t.deepEqual(rig.taken(), []);
  t.deepEqual(reported(rig, "x", [kept]), [kept]);
});

test("a heartbeat repeats the last value once nothing was reported for so long", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 1, heartbeatMs: 10_000 } } });
  rig.strategies.record({ x: 20 });
  await rig.pass(6000);
  rig.strategies.record({ x: 20.5 });
  await rig.pass(24_001);
  const found = rig.recorded.map(({ at, values }) => [at, values.x]);
  t.deepEqual(found, [
    [0, 20],
    [10_000, 20.5],
    [20_000, 20.5],
    [30_000, 20.5],
  ]);
  rig.taken();
  // It is a report as any other: the dead band counts from it.
  t.deepEqual(reported(rig, "x", [21.4, 21.5]), [21.5]);
  await rig.pass(9999);
  t.deepEqual(rig.taken(), []);
});

test("with a heartbeat alone a key is reported once a period", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { heartbeatMs: 1000 } } });
  for (let n = 0; n < 40; n++) {
    rig.strategies.record({ x: n });
    await rig.pass(100);
  }
  t.deepEqual(
    rig.recorded.map(({ at, values }) => [at, values.x]),
    [
      [0, 0],
      [1000, 9],
      [2000, 19],
      [3000, 29],
      [4000, 39],
    ],
  );
});

test("a value at the very instant of the heartbeat is reported in place of the one before", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 5, heartbeatMs: 1000 } } });
  // Before the timer of the heartbeat was set.
  rig.clock.timer(1000, () => rig.strategies.record({ x: 2 }));
  rig.strategies.record({ x: 1 });
  await rig.pass(1999);
  t.deepEqual(rig.taken(), [{ x: 1 }, { x: 2 }]);
});

test("a window reports the least, the greatest, the mean and the number of its values when it ends", async (t) => {
  const rig = new StrategiesRig({ keys: { power: { windowMs: 60_000 } } });
  await rig.pass(12_345);
  for (const power of [3, 1.5, 8, 3.5]) {
    rig.strategies.record({ power });
    await rig.pass(10_000);
  }
  t.deepEqual(rig.taken(), []);
  await rig.pass(20_000);
  t.deepEqual(rig.recorded, [
    { at: 72_345, values: { power_min: 1.5, power_max: 8, power_mean: 4, power_count: 4 } },
  ]);
});

test("a value at the end of a window is the first of the next, and windows without values are not reported", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { windowMs: 1000 } } });
  rig.strategies.record({ x: 1 });
  await rig.pass(1000);
  rig.strategies.record({ x: 2 });
  await rig.pass(60_000);
  t.deepEqual(
    rig.recorded.map(({ at, values }) => [at, values.x_min, values.x_count]),
    [
      [1000, 1, 1],
      [2000, 2, 1],
    ],
  );
  t.is(rig.clock.waiting, 0);
});

test("a mean stays exact among many values far from zero", (t) => {
  const rig = new StrategiesRig({ keys: { x: { windowMs: 1000 } } });
  for (let n = 0; n < 50_000; n++) rig.strategies.record({ x: 1e9 + (n % 2 === 0 ? 0.1 : 0.3) });
  rig.strategies.flush();
  const [{ x_mean: mean, x_count: count } = {}] = rig.taken();
  t.is(count, 50_000);
  t.true(Math.abs((mean as number) - 1_000_000_000.2) < 1e-6, `${mean}`);
});

test("in a window only numbers count; another value is reported when it differs", (t) => {
  const rig = new StrategiesRig({ keys: { x: { windowMs: 1000 } } });
  t.deepEqual(reported(rig, "x", [1, "off", "off", 3, true, "off"]), ["off", true, "off"]);
  rig.strategies.flush();
  t.deepEqual(rig.taken(), [{ x_min: 1, x_max: 3, x_mean: 2, x_count: 2 }]);
});

test("values of one call that are reported are one point; what strategies leave out is not in it", (t) => {
  const rig = new StrategiesRig({ keys: { a: { onChange: 1 }, w: { windowMs: 1000 } } });
  t.true(rig.strategies.record({ a: 1, b: 2, c: "x", w: 5 }));
  t.true(rig.strategies.record({ a: 1.5, b: 2, w: 6 }));
  t.true(rig.strategies.record({ a: 1.9, w: 7 }));
  t.deepEqual(rig.taken(), [{ a: 1, b: 2, c: "x" }, { b: 2 }]);
});

test("what telemetry refuses is refused, reported or not, and nothing of it is kept", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 1 }, w: { windowMs: 1000 } } });
  rig.strategies.record({ x: 1, w: 1 });
  rig.taken();
  const bad: unknown[] = [
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    2 ** 63,
    new Date(),
    () => 1,
  ];
  for (const value of bad) {
    t.throws(() => rig.strategies.record({ x: 9, w: 9, other: value }), { code: "BAD_VALUE" });
    t.throws(() => rig.strategies.record({ w: value }), { code: "BAD_VALUE" });
  }
  for (const values of [null, [], "text", {}, { "a,b": 1 }, { ts: 1, values: 2 }])
    t.throws(() => rig.strategies.record(values as Record<string, unknown>), { code: "BAD_VALUE" });
  t.throws(() => rig.strategies.record({ w: 9, x: "x".repeat(100_000) }), { code: "TOO_LARGE" });
  t.deepEqual(reported(rig, "x", [1.5]), []);
  await rig.pass(1000);
  t.deepEqual(rig.taken(), [{ w_min: 1, w_max: 1, w_mean: 1, w_count: 1 }]);
});

test("a value that found no room is not what the next one is compared with, and a heartbeat does not try again at once", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 5, heartbeatMs: 1000 } } });
  rig.full = true;
  t.false(rig.strategies.record({ x: 1 }));
  t.is(await rig.clock.runUntil(() => rig.clock.now() >= 3000, 3000).catch(() => 0), 3000);
  rig.full = false;
  t.deepEqual(reported(rig, "x", [1, 1]), [1]);
});

test("one timer serves all keys, and values do not add any", async (t) => {
  const keys = Object.fromEntries(
    Array.from({ length: 32 }, (_, i) => [
      `k${i}`,
      { onChange: 1, heartbeatMs: 5000 + i, windowMs: 3000 - i },
    ]),
  );
  const rig = new StrategiesRig({ keys });
  for (let n = 0; n < 50; n++) {
    rig.strategies.record(Object.fromEntries(Object.keys(keys).map((key) => [key, n * 10])));
    t.is(rig.clock.waiting, 1);
    await rig.pass(100);
  }
});

test("windows and heartbeats keep their length when the clock is set or learnt", async (t) => {
  const rig = new StrategiesRig(
    { keys: { x: { onChange: 9, heartbeatMs: 4000, windowMs: 1000 } } },
    undefined,
  );
  rig.strategies.record({ x: 1 });
  await rig.pass(300);
  rig.clock.setWall(WALL);
  await rig.pass(300);
  rig.clock.setWall(WALL + 300 * 24 * HOUR);
  await rig.pass(300);
  rig.clock.setWall(WALL - 300 * 24 * HOUR);
  await rig.pass(3100);
  t.deepEqual(
    rig.recorded.map(({ at, ts }) => [at, ts]),
    [
      [0, undefined],
      [1000, undefined],
      [4000, undefined],
    ],
  );
});

test("wrong options are reported all at once, without their values", (t) => {
  const rig = new StrategiesRig();
  const make = (options: object) => () => new Strategies(undefined as never, rig.host, options);
  const agentOf = (options: unknown) => () => rig.again(options as object);
  t.throws(make({ key: {}, attribute: 5 }), {
    code: "BAD_OPTIONS",
    message: 'there is no option "key"; attribute is a text',
  });
  t.throws(
    agentOf({
      keys: {
        a: { onChange: -5 },
        b: { windowMs: 99, heartbeat: 1 },
        c: 7,
        "d<e": {},
        f: { onChangePercent: "secret" },
      },
    }),
    {
      code: "BAD_OPTIONS",
      message:
        "keys: a.onChange is a number from 0 to 1000000000000000; keys: b.windowMs is a whole number from 100 to 604800000; " +
        'keys: there is no option "heartbeat" (b); keys: c is an object with onChange, onChangePercent, heartbeatMs, windowMs; ' +
        'keys: "d<e_min" is a key with markup; keys: f.onChangePercent is a number from 0 to 1000',
    },
  );
  t.throws(agentOf({ keys: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, {}])) }), {
    message: "keys: there are more than 32 keys",
  });
  t.throws(agentOf({ keys: [] }), { message: "keys: it is an object of keys and strategies" });
});

test("the compiler refuses a misspelt member, and values that are none", (t) => {
  const rig = new StrategiesRig();
  // @ts-expect-error: heartbeatMs
  t.throws(() => rig.again({ keys: { a: { heartBeatMs: 1000 } } }), { code: "BAD_OPTIONS" });
  // @ts-expect-error: a number
  t.throws(() => rig.again({ keys: { a: { onChange: "1" } } }), { code: "BAD_OPTIONS" });
  // @ts-expect-error: an object of values
  t.throws(() => new StrategiesRig().strategies.record("temperature"), { code: "BAD_VALUE" });
});

test("a key whose window would not fit in one request is refused when it is named", (t) => {
  const rig = new StrategiesRig();
  t.throws(() => rig.again({ keys: { ["ü".repeat(200)]: {} } }, 512), {
    code: "BAD_OPTIONS",
    message: /larger|longer|too large/,
  });
  t.throws(() => rig.again({ keys: { ["k".repeat(252)]: {} } }), {
    code: "BAD_OPTIONS",
    message: /more than 255/,
  });
  t.notThrows(() => rig.again({ keys: { ["k".repeat(249)]: { windowMs: 1000 } } }));
});

test("the application's own object may change afterwards", (t) => {
  const keys = { x: { onChange: 1 } };
  const rig = new StrategiesRig({ keys });
  keys.x.onChange = 100;
  t.deepEqual(reported(rig, "x", [1, 2]), [1, 2]);
});

test("names that every object has are keys as any other", (t) => {
  const keys = JSON.parse('{"constructor":{"onChange":1},"__proto__":{"onChange":1}}');
  const rig = new StrategiesRig({ keys, attribute: "report" });
  const values = JSON.parse('{"constructor":1,"toString":2,"__proto__":3}');
  rig.strategies.record(values);
  rig.strategies.record(values);
  t.deepEqual(
    rig.taken().map((one) => Object.keys(one)),
    [["constructor", "toString", "__proto__"], ["toString"]],
  );
  rig.set({});
  t.deepEqual(reported(rig, "constructor", [1, 5]), [5]);
});

test("flush ends the windows under way", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { windowMs: 60_000 }, y: { windowMs: 60_000 } } });
  rig.strategies.record({ x: 4 });
  await rig.pass(5000);
  rig.strategies.flush();
  t.deepEqual(rig.recorded, [{ at: 5000, values: { x_min: 4, x_max: 4, x_mean: 4, x_count: 1 } }]);
  rig.taken();
  await rig.pass(HOUR);
  t.deepEqual(rig.taken(), []);
});

test("a restart that the agent asks for loses no window", (t) => {
  const rig = new StrategiesRig({ keys: { x: { windowMs: 60_000 } } });
  rig.strategies.record({ x: 4 });
  rig.restarting();
  t.is(rig.taken().length, 1);
});

test("after close nothing is recorded any more, and nothing is left to come", async (t) => {
  const rig = new StrategiesRig({
    keys: { x: { onChange: 0, windowMs: 60_000, heartbeatMs: 1000 } },
    attribute: "report",
  });
  rig.strategies.record({ x: 4 });
  rig.taken();
  rig.strategies.close();
  rig.strategies.close();
  t.deepEqual(rig.taken(), [{ x_min: 4, x_max: 4, x_mean: 4, x_count: 1 }]);
  t.throws(() => rig.strategies.record({ x: 5 }), { code: "STOPPED" });
  rig.set({ x: { heartbeatMs: 100 } });
  rig.restarting();
  t.is(rig.clock.waiting, 0);
  await rig.pass(HOUR);
  t.deepEqual(rig.taken(), []);
});

test("a forgotten key has no heartbeat until it has a value again, which is a first one", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { onChange: 5, heartbeatMs: 1000 } } });
  rig.strategies.record({ x: 1 });
  rig.taken();
  rig.strategies.forget("x");
  rig.strategies.forget("unknown");
  await rig.pass(HOUR);
  t.deepEqual(rig.taken(), []);
  t.deepEqual(reported(rig, "x", [1]), [1]);
});

test("an exception while a report is due is logged, and the next is made", async (t) => {
  const rig = new StrategiesRig({ keys: { x: { windowMs: 1000 } } });
  rig.strategies.record({ x: 1 });
  rig.broken = true;
  await rig.pass(1500);
  rig.broken = false;
  rig.strategies.record({ x: 2 });
  await rig.pass(1500);
  t.deepEqual(rig.lines, ["error: what was due by its strategy could not be recorded"]);
  t.is(rig.taken()[0]?.x_min, 2);
});
