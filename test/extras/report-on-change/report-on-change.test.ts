import test, { type ExecutionContext } from "ava";
import {
  ReportOnChange,
  type ReportOnChangeOptions,
  type ReportRule,
} from "../../../extras/report-on-change/index.js";
import { writeStored } from "../../../src/store.js";
import { type Rig, startRig } from "../../src/agent/rig.js";
import { ReportRig, WALL } from "./rig.js";

const HOUR = 3_600_000;
/** Records the values of one key one after the other, and says which were reported. */
function reported(rig: ReportRig, key: string, values: readonly unknown[]): unknown[] {
  for (const value of values) rig.reports.record({ [key]: value });
  return rig.taken().map((one) => one[key]);
}

test("a step as wide as the dead band counts, whatever its decimals are rounded to", (t) => {
  const rig = new ReportRig({ keys: { x: { onChange: 0.1 } } });
  const steps = Array.from({ length: 1000 }, (_, i) => i / 10);
  t.deepEqual(reported(rig, "x", steps), steps);
  const narrow = Array.from({ length: 1000 }, (_, i) => 100 + (i % 2) * 0.0999999);
  t.deepEqual(reported(rig, "x", narrow), [100]);
});

test("a mean stays exact among many values far from zero", (t) => {
  const rig = new ReportRig({ keys: { x: { windowMs: 1000 } } });
  for (let n = 0; n < 50_000; n++) rig.reports.record({ x: 1e9 + (n % 2 === 0 ? 0.1 : 0.3) });
  rig.reports.flush();
  const [{ x_mean: mean, x_count: count } = {}] = rig.taken();
  t.is(count, 50_000);
  t.true(Math.abs((mean as number) - 1_000_000_000.2) < 1e-6, `${mean}`);
});

test("a bad value changes nothing, and the good ones beside it are taken", async (t) => {
  const rig = new ReportRig({ keys: { x: { onChange: 1 }, w: { windowMs: 1000 } } });
  rig.reports.record({ x: 1, w: 1 });
  rig.taken();
  for (const value of [Number.NaN, new Date(), null, "x".repeat(100_000)] as unknown[]) {
    t.true(rig.reports.record({ x: 1, other: value }));
    t.true(rig.reports.record({ x: value, w: 1 }));
    t.false(rig.reports.record({ w: value, x: value }));
  }
  t.deepEqual(rig.taken(), []);
  for (const values of [{}, { "a,b": 1 }]) t.false(rig.reports.record(values));
  for (const values of [null, [], "text", { ts: 1, values: 2 }])
    t.throws(() => rig.reports.record(values as Record<string, unknown>), { code: "BAD_VALUE" });
  t.deepEqual(reported(rig, "x", [1.5]), []);
  await rig.pass(1000);
  t.deepEqual(rig.taken(), [{ w_min: 1, w_max: 1, w_mean: 1, w_count: 5 }]);
});

test("wrong options are reported all at once, without their values", (t) => {
  const rig = new ReportRig();
  const agentOf = (options: unknown) => () => rig.again(options as ReportOnChangeOptions);
  t.throws(agentOf({ keys: {}, key: {}, keep: 5 }), {
    code: "BAD_OPTIONS",
    message: 'unknown option "key"; keep must be true or false',
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
        "keys: a.onChange must be a number from 0 to 1000000000000000; keys: b.windowMs must be a whole number from 100 to 604800000; " +
        'keys: unknown option "heartbeat" (b); keys: c must be an object with onChange, onChangePercent, heartbeatMs, windowMs; ' +
        'keys: "d<e_min" is a key with markup; keys: f.onChangePercent must be a number from 0 to 1000',
    },
  );
  t.throws(agentOf({ keys: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, {}])) }), {
    message: "keys: more than 32 keys",
  });
  for (const keys of [[], undefined, null, 7])
    t.throws(agentOf({ keys }), { message: "keys: expected an object of keys and rules" });
});

test("after close nothing is recorded any more, and nothing is left to come", async (t) => {
  const rig = new ReportRig({
    keys: { x: { onChange: 0, windowMs: 60_000, heartbeatMs: 1000 } },
  });
  rig.reports.record({ x: 4 });
  rig.taken();
  rig.reports.close();
  rig.reports.close();
  t.deepEqual(rig.taken(), [{ x_min: 4, x_max: 4, x_mean: 4, x_count: 1 }]);
  t.throws(() => rig.reports.record({ x: 5 }), { code: "STOPPED" });
  rig.restarting();
  t.is(rig.clock.waiting, 0);
  await rig.pass(HOUR);
  t.deepEqual(rig.taken(), []);
});

// An agent on a platform, in both modes.

const MINUTE = 60_000;
const OPTIONS = { keys: { temperature: { onChange: 0.5 } } };

function begin(rig: Rig, options: ReportOnChangeOptions = OPTIONS): ReportOnChange {
  const agent = rig.agent();
  const reports = new ReportOnChange(agent, rig.host, options);
  agent.start();
  return reports;
}

async function online(t: ExecutionContext): Promise<{ rig: Rig; reports: ReportOnChange }> {
  const rig = startRig(t);
  const reports = begin(rig);
  await rig.clock.advance(5000);
  return { rig, reports };
}

test("a window has the time stamp of its end, also where the time was learnt after it", async (t) => {
  const { rig, reports } = await online(t);
  const wall = rig.clock.wall()!;
  rig.powerOff();
  reports.close();
  rig.clock.setWall(undefined);
  rig.platform.fault = () => "drop";
  const again = begin(rig, { keys: { power: { windowMs: MINUTE } } });
  again.record({ power: 1 });
  await rig.clock.advance(10 * MINUTE);
  rig.clock.setWall(wall + 10 * MINUTE);
  rig.platform.fault = undefined;
  await rig.clock.advance(10 * MINUTE);
  const found = rig.platform.points(rig.device, "power_max");
  t.deepEqual(found, [{ ts: wall + MINUTE, value: 1 }]);
});

// State after a restart and a power loss.

const KEYS = { band: { onChange: 1 }, beat: { onChange: 1, heartbeatMs: 60_000 }, win: { windowMs: 10_000 } };

test("keep writes once per call; without a rule it writes nothing and deletes old values", (t) => {
  const rig = new ReportRig({ keys: { win: { windowMs: MINUTE } }, keep: true });
  for (let n = 1; n <= 5; n++) rig.reports.record({ win: n, band: 1 });
  t.is(rig.store.changes.length, 5);
  rig.again({ keys: {}, keep: true });
  rig.reports.record({ win: 1 });
  t.false(rig.store.values.has("reported"));
  const changes = rig.store.changes.length;
  rig.reports.record({ win: 1 });
  t.is(rig.store.changes.length, changes);
});

test("a value that the store refuses is reported once, and reports go on in memory", async (t) => {
  const keys = Object.fromEntries(
    Array.from({ length: 32 }, (_, i) => [`${i}${"k".repeat(50)}`, { onChange: 0 }]),
  );
  const rig = new ReportRig({ keys, keep: true });
  const all = (value: unknown) => Object.fromEntries(Object.keys(keys).map((key) => [key, value]));
  rig.reports.record(all(1));
  t.true(rig.store.values.has("reported"));
  rig.reports.record(all("x".repeat(60)));
  rig.reports.record(all("y".repeat(60)));
  t.false(rig.store.values.has("reported"));
  rig.reports.record(all(2));
  t.true(rig.store.values.has("reported"));
  rig.store.fails = () => true;
  rig.reports.record(all(3));
  rig.reports.record(all(3));
  const line = 'error: could not store the value "reported"';
  t.is(rig.lines.length, 2);
  t.true(rig.lines.every((one) => one.startsWith(line)));
  const first = rig.taken().map((values) => Object.values(values)[0]);
  t.deepEqual(first, [1, "x".repeat(60), "y".repeat(60), 2, 3]);
});

test("ignores damaged and unknown stored values", async (t) => {
  const rig = new ReportRig({ keys: KEYS, keep: true });
  rig.reports.record({ win: 5, band: 1 });
  const good = rig.store.get("reported")!;
  const binary = [[], [1], [2, ...good.subarray(1)], [...good.subarray(0, -4)], [1, 0xff, 0xfe]];
  const texts = [
    ...["7", "null", "[]", "[1]", "[1,2]", "[null,[7,null,[],{}]]"],
    '[0,[["win",null,null,null,"9",0,0,0,0]]]',
    '[0,[["win",null,null,null,9,null,0,0,0]]]',
    '[0,[["win",{},[],true,9,0,0,0]]]',
    "[0,[[null,1,1,1,1,1,1,1,1]]]",
    '[0,[["band",{"a":1},[1],"x",0,0,0,0,0]]]',
    '[0,[["win",null,null,null,-3,0,0,0,0]]]',
    '[0,[["beat","{",  "{",0,0,0,0,0,0]]]',
    '[0,[["win",null,null,null,0.5,5,0,0,0]]]',
  ];
  for (const stored of [...binary, ...texts]) {
    if (typeof stored === "string") writeStored(rig.host, "reported", JSON.parse(stored));
    else rig.store.values.set("reported", Uint8Array.from(stored));
    await rig.off(0, WALL);
    rig.taken();
    await rig.pass(120_000);
    t.deepEqual(rig.taken(), [], `${stored}`);
    rig.reports.record({ band: 1, win: 1, beat: 1 });
    t.deepEqual(rig.taken(), [{ band: 1, beat: 1 }]);
    rig.reports.flush();
    t.is(rig.taken()[0]?.win_count, 1);
  }
  const damaged =
    'warn: stored value "reported" is damaged or has an unknown format: ignored until it is replaced';
  t.deepEqual(rig.lines, Array(binary.length).fill(damaged));
});

// The rules, one key at a time: which of the given values are reported, and when.

type Given = readonly [at: number, value: unknown];
const window = (min: number, max: number, mean: number, count: number) => ({
  ...{ k_min: min, k_max: max, k_mean: mean, k_count: count },
});

for (const [rule, given, expected] of [
  [
    { onChange: 0.3 },
    [
      [0, 1],
      [1, 1.2],
      [2, 1.3],
      [3, 1.5],
      [4, "on"],
      [5, "on"],
      [6, 1.5],
      [7, [1]],
      [8, [1]],
    ],
    [
      [0, { k: 1 }],
      [2, { k: 1.3 }],
      [4, { k: "on" }],
      [6, { k: 1.5 }],
      [7, { k: [1] }],
    ],
  ],
  [
    { onChange: 0 },
    [
      [0, 1],
      [1, 1],
      [2, 1.1],
    ],
    [
      [0, { k: 1 }],
      [2, { k: 1.1 }],
    ],
  ],
  [
    { onChangePercent: 20, onChange: 0.2 },
    [
      [0, 1],
      [1, 1.1],
      [2, 1.2],
      [3, 1.43],
      [4, 1.44],
    ],
    [
      [0, { k: 1 }],
      [2, { k: 1.2 }],
      [4, { k: 1.44 }],
    ],
  ],
  [
    { heartbeatMs: 700 },
    [
      [0, 1],
      [100, 2],
    ],
    [
      [0, { k: 1 }],
      [700, { k: 2 }],
      [1400, { k: 2 }],
    ],
  ],
  [
    { onChange: 1, heartbeatMs: 700 },
    [
      [0, 1],
      [100, 1.5],
      [200, 2],
    ],
    [
      [0, { k: 1 }],
      [200, { k: 2 }],
      [900, { k: 2 }],
      [1600, { k: 2 }],
    ],
  ],
  [
    { windowMs: 500 },
    [
      [0, 1],
      [100, 3],
      [600, 5],
    ],
    [
      [500, window(1, 3, 2, 2)],
      [1100, window(5, 5, 5, 1)],
    ],
  ],
  [
    undefined,
    [
      [0, 1],
      [1, 1],
    ],
    [
      [0, { k: 1 }],
      [1, { k: 1 }],
    ],
  ],
] as readonly (readonly [ReportRule | undefined, readonly Given[], readonly unknown[]])[])
  test(`${JSON.stringify(rule)}: reports what the rule asks for, when it is due`, async (t) => {
    const rig = new ReportRig({ keys: rule ? { k: rule } : {} });
    for (const [at, value] of given) {
      await rig.pass(at - rig.at);
      rig.reports.record({ k: value });
    }
    await rig.pass(1700 - rig.at);
    t.deepEqual(
      rig.recorded.map(({ at, values }) => [at, values]),
      expected,
    );
  });

test("a report that finds no room, or a key that is forgotten, leaves the next value to be reported", (t) => {
  const rig = new ReportRig({ keys: { x: { onChange: 1 } } });
  rig.full = true;
  t.false(rig.reports.record({ x: 5 }));
  rig.full = false;
  t.deepEqual(reported(rig, "x", [5, 5.5]), [5]);
  rig.reports.forget("x");
  t.deepEqual(reported(rig, "x", [5.5]), [5.5]);
});

for (const keep of [false, true])
  test(`${keep ? "with" : "without"} keep, a sleep ${keep ? "continues" : "ends"} windows and dead bands`, async (t) => {
    const rig = new ReportRig({ keys: KEYS, keep });
    rig.reports.record({ band: 1, win: 1 });
    rig.taken();
    await rig.off(4000, WALL + 4000);
    t.deepEqual(reported(rig, "band", [1.5]), keep ? [] : [1.5]);
    rig.reports.record({ win: 3 });
    await rig.pass(5999);
    t.deepEqual(rig.taken(), []);
    await rig.pass(keep ? 1 : 4001);
    t.like(rig.taken(), [keep ? { win_min: 1, win_count: 2 } : { win_min: 3, win_count: 1 }]);
  });

test("a restart that is asked for reports an open window before it", (t) => {
  const rig = new ReportRig({ keys: KEYS });
  rig.reports.record({ win: 7 });
  rig.restarting();
  t.like(rig.taken(), [{ win_count: 1 }]);
});
