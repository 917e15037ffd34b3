import test from "ava";
import { simulateSleepCycle, summary } from "./sleep-cycle/runs.js";

// A year of wakes, and shorter runs of other kinds. `node scripts/campaign.mjs sleep-cycles --seed
// N --days D` repeats one.

const MINUTE = 60_000;
const YEAR = 20_261_121;
const SHORT = 14;

test("a year of wakes with a wrong clock, power losses and outages keeps every promise", async (t) => {
  t.timeout(15 * MINUTE);
  const run = await simulateSleepCycle(YEAR, 365, {
    cycle: { everyMs: 15 * MINUTE, connectEvery: 8 },
    powerLossesAMonth: 8,
    outagesAMonth: 6,
    measures: true,
  });
  const { sleeper, judgement } = run;
  t.log(summary(run));
  t.deepEqual(judgement.problems.slice(0, 3), []);
  t.true(sleeper.points.length > 33_000 && sleeper.counts.powerLosses > 50, summary(run));
  t.is(
    sleeper.idleWrites,
    0,
    "a wake that only records changes no stored value but the queue's high-water mark",
  );
  t.true(
    sleeper.body.store.changes.length < 6 * (sleeper.counts.powerLosses + 365),
    `${sleeper.body.store.changes.length} changes`,
  );
  t.true(Math.max(...sleeper.body.blocks.erases) <= 12, `${Math.max(...sleeper.body.blocks.erases)} erases`);
  t.true(sleeper.longestMs <= 30_000, `${sleeper.longestMs} ms`);
  t.true(judgement.half < 10_000, `${judgement.half} ms`);
});

for (let seed = 1; seed <= SHORT; seed++) {
  test(`three days of wakes keep every promise (seed ${seed})`, async (t) => {
    t.timeout(5 * MINUTE);
    const run = await simulateSleepCycle(seed, 3);
    t.log(summary(run));
    t.deepEqual(
      run.judgement.problems.slice(0, 3),
      [],
      `node scripts/campaign.mjs sleep-cycles --seed ${seed} --days 3`,
    );
  });
}
