// A sample of simulated runs, of other seeds each time; those of test:all are in campaign/.
import test from "ava";
import { SEED } from "../sample.js";
import { simulateMany } from "./many.js";

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
