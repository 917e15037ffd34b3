// What a deep sleep, a restart and a power loss leave of strategies.
import test from "ava";
import { StrategiesRig, WALL } from "./rig.js";

const KEYS = { band: { onChange: 1 }, beat: { onChange: 1, heartbeatMs: 60_000 }, win: { windowMs: 10_000 } };
const MINUTE = 60_000;

test("a board that sleeps between values reports as one that does not", async (t) => {
  const keys = { band: KEYS.band, win: KEYS.win };
  const [awake, asleep] = [new StrategiesRig({ keys }), new StrategiesRig({ keys, keep: true })];
  for (let n = 0; n < 200; n++) {
    const values = { band: Math.sin(n / 9) * 10, win: n % 17 };
    awake.strategies.record(values);
    asleep.strategies.record(values);
    await awake.pass(3000);
    await asleep.pass(20);
    await asleep.off(2980, WALL + asleep.at + 2980);
  }
  await asleep.pass(0);
  // What fell due in a sleep is reported at its end, and a window as of its own end.
  const reported = (rig: StrategiesRig) =>
    rig.recorded.map(({ at, ts, values }) => [
      ts === undefined ? Math.ceil(at / 3000) : Math.ceil((ts - WALL) / 3000),
      values,
    ]);
  t.true(reported(awake).length > 80);
  const sorted = (list: unknown[]) => list.map((one) => JSON.stringify(one)).sort();
  t.deepEqual(sorted(reported(asleep)), sorted(reported(awake)));
});

test("a window that ended in the sleep has the time stamp of its end", async (t) => {
  const rig = new StrategiesRig({ keys: KEYS, keep: true });
  rig.strategies.record({ win: 5 });
  await rig.pass(2000);
  await rig.off(MINUTE, WALL + 62_000);
  await rig.pass(0);
  t.deepEqual(rig.recorded, [
    { at: 62_000, ts: WALL + 10_000, values: { win_min: 5, win_max: 5, win_mean: 5, win_count: 1 } },
  ]);
});

test("a sleep of unknown length takes no time", async (t) => {
  for (const [before, after] of [
    [undefined, WALL],
    [WALL, undefined],
    [WALL, WALL - MINUTE],
  ] as const) {
    const rig = new StrategiesRig({ keys: KEYS, keep: true }, before);
    rig.strategies.record({ win: 5, beat: 1 });
    await rig.pass(2000);
    rig.taken();
    await rig.off(MINUTE, after);
    await rig.pass(9999);
    t.deepEqual(rig.taken(), []);
    await rig.pass(1);
    t.is(rig.taken()[0]?.win_count, 1);
    await rig.pass(49_999);
    t.deepEqual(rig.taken(), []);
    await rig.pass(1);
    t.deepEqual(rig.taken(), [{ beat: 1 }]);
  }
});

test("without keep a restart ends windows and dead bands, and nothing is written", async (t) => {
  const rig = new StrategiesRig({ keys: KEYS });
  rig.strategies.record({ win: 5, band: 1 });
  t.deepEqual(rig.store.changes, []);
  rig.taken();
  await rig.off(100, WALL + 100);
  rig.strategies.record({ win: 6, band: 1 });
  t.deepEqual(rig.taken(), [{ band: 1 }]);
  rig.strategies.flush();
  t.is(rig.taken()[0]?.win_count, 1);
});

test("with keep a power loss loses no value of a window, and one write a call is all it takes", async (t) => {
  const rig = new StrategiesRig({ keys: KEYS, keep: true });
  for (let n = 1; n <= 5; n++) {
    rig.strategies.record({ win: n, band: 1 });
    t.is(rig.store.changes.length, n);
    await rig.off(100, WALL + n * 100);
  }
  t.deepEqual(rig.taken(), [{ band: 1 }]);
  rig.strategies.flush();
  t.deepEqual(rig.taken(), [{ win_min: 1, win_max: 5, win_mean: 3, win_count: 5 }]);
  await rig.off(100, WALL + 600);
  rig.strategies.flush();
  t.deepEqual(rig.taken(), []);
});

test("without any strategy keep writes nothing, and leaves nothing of strategies that there were", (t) => {
  const rig = new StrategiesRig({ attribute: "report", keep: true });
  rig.strategies.record({ win: 1 });
  t.deepEqual(rig.store.changes, []);
  rig.set({ win: { windowMs: MINUTE } });
  rig.strategies.record({ win: 1 });
  rig.set(undefined);
  t.false(rig.store.values.has("strategies"));
  const changes = rig.store.changes.length;
  rig.strategies.record({ win: 1 });
  t.is(rig.store.changes.length, changes);
});

test("what fell due in the sleep is reported with the next value, of whichever key", async (t) => {
  const rig = new StrategiesRig({ keys: KEYS, keep: true });
  rig.strategies.record({ win: 5, beat: 1 });
  rig.taken();
  await rig.off(MINUTE, WALL + MINUTE);
  rig.strategies.record({ free: 1 });
  t.deepEqual(rig.taken(), [{ free: 1 }, { beat: 1 }, { win_min: 5, win_max: 5, win_mean: 5, win_count: 1 }]);
});

test("what does not fit into the store, or that it does not take, is reported once, and all goes on in memory", async (t) => {
  const keys = Object.fromEntries(
    Array.from({ length: 32 }, (_, i) => [`${i}${"k".repeat(50)}`, { onChange: 0 }]),
  );
  const rig = new StrategiesRig({ keys, keep: true });
  const all = (value: unknown) => Object.fromEntries(Object.keys(keys).map((key) => [key, value]));
  rig.strategies.record(all(1));
  t.true(rig.store.values.has("strategies"));
  rig.strategies.record(all("x".repeat(60)));
  rig.strategies.record(all("y".repeat(60)));
  t.false(rig.store.values.has("strategies"));
  rig.strategies.record(all(2));
  t.true(rig.store.values.has("strategies"));
  rig.store.fails = () => true;
  rig.strategies.record(all(3));
  rig.strategies.record(all(3));
  const line = "error: what strategies keep for a sleep does not fit into the store";
  t.deepEqual(rig.lines, [line, line]);
  t.deepEqual(
    rig.taken().map((values) => Object.values(values)[0]),
    [1, "x".repeat(60), "y".repeat(60), 2, 3],
  );
});

test("the attribute's strategies are there before what was kept is taken up", async (t) => {
  const rig = new StrategiesRig({ attribute: "report", keep: true });
  rig.set({ x: { windowMs: MINUTE } });
  rig.strategies.record({ x: 1 });
  await rig.off(1000, WALL + 1000);
  rig.strategies.record({ x: 3 });
  rig.strategies.flush();
  t.deepEqual(rig.taken(), [{ x_min: 1, x_max: 3, x_mean: 2, x_count: 2 }]);
});

test("a stored value of another format, cut or made up is taken for none", async (t) => {
  const rig = new StrategiesRig({ keys: KEYS, keep: true });
  rig.strategies.record({ win: 5, band: 1 });
  const good = rig.store.get("strategies")!;
  const text = (json: string) => new Uint8Array([1, ...new TextEncoder().encode(json)]);
  const bad = [
    new Uint8Array(),
    new Uint8Array([1]),
    new Uint8Array([2, ...good.subarray(1)]),
    good.subarray(0, good.length - 4),
    new Uint8Array([1, 0xff, 0xfe]),
    ...[
      "7",
      "null",
      "[]",
      "[1]",
      "[1,2]",
      "[null,[7,null,[],{}]]",
      '[0,[["win",null,null,null,"9",0,0,0,0]]]',
    ].map(text),
    ...[
      '[0,[["win",null,null,null,9,null,0,0,0]]]',
      '[0,[["win",{},[],true,9,0,0,0]]]',
      "[0,[[null,1,1,1,1,1,1,1,1]]]",
    ].map(text),
    ...[
      '[0,[["band",{"a":1},[1],"x",0,0,0,0,0]]]',
      '[0,[["win",null,null,null,-3,0,0,0,0]]]',
      '[0,[["beat","{",  "{",0,0,0,0,0,0]]]',
    ].map(text),
    text(`[0,[["win",null,null,null,0.5,5,0,0,0]]]`),
  ];
  for (const bytes of bad) {
    rig.store.values.set("strategies", bytes);
    await rig.off(0, WALL);
    rig.taken();
    await rig.pass(120_000);
    t.deepEqual(rig.taken(), [], new TextDecoder().decode(bytes));
    rig.strategies.record({ band: 1, win: 1, beat: 1 });
    t.deepEqual(rig.taken(), [{ band: 1, beat: 1 }]);
    rig.strategies.flush();
    t.is(rig.taken()[0]?.win_count, 1);
  }
  t.deepEqual(rig.lines, []);
});

test("a window goes on for no longer than its strategy says now", async (t) => {
  const rig = new StrategiesRig({ keys: KEYS, keep: true });
  rig.strategies.record({ win: 5 });
  rig.again({ keys: { win: { windowMs: 1000 } }, keep: true });
  await rig.pass(1000);
  t.deepEqual(rig.taken(), [{ win_min: 5, win_max: 5, win_mean: 5, win_count: 1 }]);
});
