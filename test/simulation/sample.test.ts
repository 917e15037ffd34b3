// A sample of simulated runs, of other seeds each time; those of test:all are in campaign/.
import test from "ava";
import { SEED } from "../sample.js";
import { simulateMany } from "./many.js";
import { simulateSleepCycle, summary } from "./sleep-cycle/runs.js";

const RUNS = 40;
const GROUP = 20;

for (let first = SEED; first < SEED + RUNS; first += GROUP) {
  const last = first + GROUP - 1;
  test.serial(
    `through faults, restarts and clock jumps the promises hold (sample: seeds ${first} to ${last})`,
    async (t) => {
      const { failed } = await simulateMany(first, GROUP);
      t.is(
        failed,
        undefined,
        `see it with: node scripts/campaign.mjs faults --seed ${failed?.seed} --runs 1`,
      );
    },
  );
}

// A sample of sleep-cycle runs, of other seeds each time; a year of wakes: simulation.slow.test.ts.

const SLEEP_RUNS = 4;

for (let seed = SEED; seed < SEED + SLEEP_RUNS; seed++) {
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
