// A sample of the stories, of other seeds each time. Those that every run of all tests tells: stories-1 to stories-8.
import test from "ava";
import { SEED } from "../sample.js";
import { tellMany } from "./many.js";

const STORIES = 80;
const GROUP = 20;

for (let first = SEED; first < SEED + STORIES; first += GROUP) {
  const last = first + GROUP - 1;
  test.serial(
    `through faults, restarts and clock jumps the promises hold (sample: seeds ${first} to ${last})`,
    async (t) => {
      const { failed } = await tellMany(first, GROUP);
      t.is(failed, undefined, `see it with: npm run -s faults -- --seed ${failed?.seed} --stories 1`);
    },
  );
}
