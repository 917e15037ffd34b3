// Report strategies against a reference that keeps every number and looks at all of it each time.
import { isDeepStrictEqual } from "node:util";
import test from "ava";
import fc from "fast-check";
import { BUILT_IN, KEYS, LONG, Reference, type Table, TENTH } from "./reference.js";
import { type Recorded, StrategiesRig, WALL } from "./rig.js";

const RUNS = 300;

class Real {
  readonly rig: StrategiesRig;
  readonly keep: boolean;
  good = true;

  constructor(keep: boolean) {
    this.keep = keep;
    this.rig = new StrategiesRig({ keys: BUILT_IN, attribute: "report", keep });
  }
}

const close = (one: unknown, other: unknown): boolean =>
  typeof one === "number" && typeof other === "number"
    ? Math.abs(one - other) <= 1e-12 * Math.max(1, Math.abs(one))
    : isDeepStrictEqual(one, other);

function same(one: Recorded, other: Recorded): boolean {
  const keys = Object.keys(one.values);
  return (
    one.at === other.at &&
    one.ts === other.ts &&
    keys.length === Object.keys(other.values).length &&
    keys.every((key) => close(one.values[key], other.values[key]))
  );
}

/** What falls due at one instant comes in any order. */
function compare(model: Reference, { rig }: Real): void {
  const sorted = (list: Recorded[]) =>
    list
      .splice(0)
      .sort((a, b) => a.at - b.at || (Object.keys(a.values).join() < Object.keys(b.values).join() ? -1 : 1));
  const [expected, found] = [sorted(model.expected), sorted(rig.recorded)];
  if (expected.length !== found.length || !expected.every((one, i) => same(one, found[i]!)))
    throw new Error(`recorded ${JSON.stringify(found)}, not ${JSON.stringify(expected)}`);
  if (rig.at !== model.now) throw new Error(`it is ${rig.at}, not ${model.now}`);
  const error = rig.published.reportError;
  if (model.error === undefined ? error !== undefined : (error === "") !== (model.error === ""))
    throw new Error(`threw ${String(error)}`);
}

type Command = fc.AsyncCommand<Reference, Real>;

function command(name: string, run: (model: Reference, real: Real) => Promise<void> | void): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      await run(model, real);
      compare(model, real);
    },
    toString: () => name,
  };
}

const show = (value: unknown): string =>
  JSON.stringify(value, (_key, one) => (typeof one === "bigint" ? `${one}n` : one)) ?? "undefined";
const number = fc.integer({ min: -40, max: 40 }).map((tenths) => tenths / TENTH);
const other = fc.constantFrom<unknown>(
  "on",
  "off",
  true,
  false,
  { a: 1 },
  { a: [1, "x"] },
  [],
  LONG,
  5n,
  "21.5",
);
const value = fc.oneof({ weight: 5, arbitrary: number }, { weight: 1, arbitrary: other });
const values = fc.dictionary(fc.constantFrom(...KEYS), value, { minKeys: 1, maxKeys: 4 });
const period = fc.constantFrom(100, 300, 500, 1000);
const strategy = fc.record(
  {
    onChange: fc.constantFrom(0, 0.1, 0.7),
    onChangePercent: fc.constantFrom(0, 10, 50),
    heartbeatMs: period,
    windowMs: period,
  },
  { requiredKeys: [] },
);
const table = fc.dictionary(fc.constantFrom(...KEYS), strategy, { maxKeys: 4 });
const wrong = fc.constantFrom<unknown>(
  null,
  7,
  "text",
  [],
  { band: 1 },
  { band: null },
  { band: { onChange: -1 } },
  { band: { onChange: "1" } },
  { beat: { heartbeatMs: 99 } },
  { window: { windowMs: 604_800_001 } },
  { window: { windowMs: 100.5 } },
  { band: {}, both: { often: 1 } },
  { "a<b": {} },
  { band: { onChangePercent: Number.NaN } },
  Object.fromEntries(Array.from({ length: 27 }, (_, i) => [`k${i}`, { onChange: 1 }])),
);

const COMMANDS: fc.Arbitrary<Command>[] = [
  ...[1, 2, 3].map(() =>
    values.map((given) =>
      command(`record ${show(given)}`, (model, { rig }) => {
        const [expected, taken] = [model.record({ ...given }), rig.strategies.record({ ...given })];
        if (taken !== expected) throw new Error(`returned ${taken}`);
      }),
    ),
  ),
  ...[1, 2].map(() =>
    fc.integer({ min: 0, max: 600 }).map((ms) =>
      command(`wait ${ms} ms`, async (model, { rig }) => {
        model.pass(ms);
        await rig.pass(ms);
      }),
    ),
  ),
  fc
    .tuple(
      values,
      fc.constantFrom(...KEYS),
      fc.constantFrom(Number.NaN, null, undefined, 2 ** 63, () => 1),
    )
    .map(([given, key, bad]) =>
      command(`record ${show(given)} and what is no value of ${key}`, (_, { rig }) => {
        try {
          rig.strategies.record({ ...given, [key]: bad });
        } catch {
          return;
        }
        throw new Error("taken");
      }),
    ),
  table.map((set) =>
    command(`set ${show(set)}`, (model, real) => {
      real.good = true;
      model.set(set, true);
      real.rig.set(set);
    }),
  ),
  wrong.map((set) =>
    command(`set ${show(set)}, which is wrong`, (model, real) => {
      real.good = false;
      model.set(set as Table, false);
      real.rig.set(set);
    }),
  ),
  fc.constant(
    command("delete the attribute", (model, real) => {
      real.good = true;
      model.set(undefined, true);
      real.rig.set(undefined);
    }),
  ),
  fc.constant(
    command("flush", (model, { rig }) => {
      model.flush();
      rig.strategies.flush();
    }),
  ),
  fc.constantFrom(...KEYS).map((key) =>
    command(`forget ${key}`, (model, { rig }) => {
      model.forget(key);
      rig.strategies.forget(key);
    }),
  ),
  fc.boolean().map((full) =>
    command(full ? "the outbox is full" : "the outbox has room", (model, { rig }) => {
      model.full = full;
      rig.full = full;
    }),
  ),
  fc.integer({ min: -5000, max: 5000 }).map((ms) =>
    command(`the clock is set by ${ms} ms`, (model, { rig }) => {
      if (model.wallAt === undefined) return;
      model.wallAt += ms;
      rig.clock.setWall(rig.clock.wall()! + ms);
    }),
  ),
  fc
    .record({
      ms: fc.integer({ min: 0, max: 3000 }),
      asked: fc.boolean(),
      drift: fc.oneof(fc.integer({ min: -200, max: 200 }), fc.constantFrom(-4000, 4000)),
      knows: fc.boolean(),
    })
    .map(({ ms, asked, drift, knows }) =>
      command(
        `off for ${ms} ms, ${asked ? "asked for" : "cut"}, ${knows ? `${drift} ms wrong` : "without the time"}`,
        async (model, real) => {
          const { rig } = real;
          const before = rig.clock.wall() ?? WALL;
          const wall = knows ? before + ms + drift : undefined;
          if (asked) {
            model.flush();
            rig.restarting();
          }
          model.off(ms, wall === undefined ? undefined : wall - model.now - ms, real.keep, real.good);
          await rig.off(ms, wall);
        },
      ),
    ),
];

for (const keep of [false, true])
  test(`strategies ${keep ? "that are kept over a sleep " : ""}record what their reference does, whatever the values, the time, the attribute and the power`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.commands(COMMANDS, { maxCommands: 60, size: "max" }), async (commands) => {
        await fc.asyncModelRun(() => ({ model: new Reference(), real: new Real(keep) }), commands);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
    t.pass();
  });
