// A sample of sleep-cycle runs, of other seeds each time; a year of wakes: year.slow.test.ts.
import test from "ava";
import { SEED } from "../../sample.js";
import { simulateSleepCycle, summary } from "./runs.js";

const RUNS = 4;

for (let seed = SEED; seed < SEED + RUNS; seed++) {
  test(`three days of wakes keep every promise (sample: seed ${seed})`, async (t) => {
    const run = await simulateSleepCycle(seed, 3);
    t.log(summary(run));
    t.deepEqual(
      run.judgement.problems.slice(0, 3),
      [],
      `node scripts/campaign.mjs sleep-cycles --seed ${seed} --days 3`,
    );
  });
}
