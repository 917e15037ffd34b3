// Alarms on a clock that stands still: once when a limit is passed, over restarts too.
import test from "ava";
import fc from "fast-check";
import { type AlarmLimits, Alarms } from "../../../extras/report-on-change/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";

const MINUTE = 60_000;

class Rig {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly store = new FakeStore();
  #alarms!: Alarms;
  readonly #limits: Record<string, AlarmLimits>;

  constructor(limits: AlarmLimits) {
    this.#limits = { t: limits };
    this.restart();
  }

  restart(): void {
    this.#alarms = new Alarms(fakeHost({ clock: this.clock, store: this.store }), this.#limits);
  }

  /**
   * A value each minute; the positions of those that raise an alarm. `sleeps`: a restart before
   * each.
   */
  async raised(values: readonly unknown[], sleeps = false): Promise<number[]> {
    const found: number[] = [];
    for (const [at, t] of values.entries()) {
      if (sleeps) this.restart();
      if (this.#alarms.check({ t, other: 1000 })) found.push(at);
      await this.clock.advance(MINUTE);
    }
    return found;
  }
}

for (const sleeps of [false, true]) {
  const how = sleeps ? "asleep between values" : "on mains power";
  test(`${how}: an alarm is raised once per passing of a limit, with hysteresis`, async (t) => {
    const rig = new Rig({ above: 30, below: 5, hysteresis: 2 });
    const values = [20, 31, 32, 31, 29, 31, 28, 31, 20, 4, 3, 6, 4, 7, 4];
    t.deepEqual(await rig.raised(values, sleeps), [1, 7, 9, 14]);
  });

  test(`${how}: a delay ignores short peaks, and a gap spares the radio`, async (t) => {
    const delayed = new Rig({ above: 30, delayMs: 2 * MINUTE });
    t.deepEqual(await delayed.raised([31, 31, 20, 31, 31, 31, 31], sleeps), [5]);
    const gapped = new Rig({ above: 30, gapMs: 10 * MINUTE });
    const flapping = Array.from({ length: 60 }, (_, i) => (i % 2 === 0 ? 31 : 29));
    t.deepEqual(await gapped.raised(flapping, sleeps), [0, 10, 20, 30, 40, 50]);
    const high = new Rig({ above: 30 });
    t.deepEqual(await high.raised(new Array(60).fill(31), sleeps), [0], "an hour beyond the limit");
  });
}

test("a value that is no number changes nothing, and nothing is written while nothing changes", async (t) => {
  const rig = new Rig({ above: 30 });
  t.deepEqual(await rig.raised([31, NaN, null, undefined, "99", 31]), [0]);
  const stored = [...rig.store.values].map(([, bytes]) => bytes);
  await rig.raised(new Array(100).fill(32));
  const after = [...rig.store.values].map(([, bytes]) => bytes);
  t.true(stored.length === 1 && after.every((bytes, i) => bytes === stored[i]));
});

test("two alarms are never closer than the gap, whatever the values", async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 9 })),
      fc.nat(5),
      fc.boolean(),
      async (values, gap, sleeps) => {
        const raised = await new Rig({ above: 5, hysteresis: 1, gapMs: gap * MINUTE }).raised(values, sleeps);
        t.true(raised.every((at, i) => i === 0 || at - raised[i - 1]! >= gap));
        t.true(raised.every((at) => values[at]! > 5));
        if (gap === 0)
          t.is(
            raised.length > 0,
            values.some((value) => value > 5),
          );
      },
    ),
    { numRuns: 200 },
  );
});

test("wrong limits are reported all at once", (t) => {
  const host = fakeHost();
  const limits = { a: {}, b: { above: 1, below: 2 }, c: { above: 1, delayMs: -1, often: 1 }, d: 5 };
  t.throws(() => new Alarms(host, limits as never), {
    code: "BAD_OPTIONS",
    message:
      /a needs above or below; b\.below must .*; unknown option "often" \(c\); c\.delayMs must .*; d must be/,
  });
});
