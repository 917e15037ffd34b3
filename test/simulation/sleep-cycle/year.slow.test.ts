// A year of wakes, and shorter lives of other kinds. `npm run -s cycles -- --seed N --days D` tells one again.
import test from "ava";
import { summary, tellLife } from "./runs.js";

const MINUTE = 60_000;
const YEAR = 20_261_121;
const SHORT = 14;

test("in a year of wakes with a clock off by 5 %, power cuts and days without a platform no point is lost, all come in order, each time stamp within its bound", async (t) => {
  t.timeout(15 * MINUTE);
  const life = await tellLife(YEAR, 365, {
    cycle: { everyMs: 15 * MINUTE, connectEvery: 8 },
    cutsAMonth: 8,
    outagesAMonth: 6,
    measures: true,
  });
  const { sleeper, kept } = life;
  t.log(summary(life));
  t.deepEqual(kept.problems.slice(0, 3), []);
  t.true(sleeper.points.length > 33_000 && sleeper.counts.cuts > 50, summary(life));
  t.is(sleeper.idleWrites, 0, "a wake that only records changes no stored value");
  t.true(
    sleeper.body.store.changes.length < 6 * (sleeper.counts.cuts + 365),
    `${sleeper.body.store.changes.length} changes`,
  );
  t.true(Math.max(...sleeper.body.blocks.erases) <= 12, `${Math.max(...sleeper.body.blocks.erases)} erases`);
  t.true(sleeper.longestMs <= 30_000, `${sleeper.longestMs} ms`);
  t.true(kept.half < 10_000, `${kept.half} ms`);
});

for (let seed = 1; seed <= SHORT; seed++) {
  test(`three days of wakes keep every promise (seed ${seed})`, async (t) => {
    t.timeout(5 * MINUTE);
    const life = await tellLife(seed, 3);
    t.log(summary(life));
    t.deepEqual(life.kept.problems.slice(0, 3), [], `npm run -s cycles -- --seed ${seed} --days 3`);
  });
}
