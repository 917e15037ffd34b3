// A sample of lives of wakes, of other seeds each time; a year of them: year.slow.test.ts.
import test from "ava";
import { SEED } from "../../sample.js";
import { summary, tellLife } from "./runs.js";

const LIVES = 4;

for (let seed = SEED; seed < SEED + LIVES; seed++) {
  test(`three days of wakes keep every promise (sample: seed ${seed})`, async (t) => {
    const life = await tellLife(seed, 3);
    t.log(summary(life));
    t.deepEqual(life.kept.problems.slice(0, 3), [], `npm run -s cycles -- --seed ${seed} --days 3`);
  });
}
