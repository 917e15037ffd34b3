// A sample of the power cuts: from each part some cases, in each some cuts, drawn by the seed. All: the other files, and npm run cuts.
import test from "ava";
import { SEED } from "../sample.js";
import { Dice } from "../simulation/dice.js";
import { all } from "./all.js";
import { sample } from "./runner.js";

const CASES = 4;
/** A case; every other one is followed by a second. */
const CUTS = 6;

for (const [group, cases] of Object.entries(all)) {
  test.serial(`${group}: a sample of power cuts breaks no promise (seed ${SEED})`, async (t) => {
    const dice = new Dice(SEED);
    let cuts = 0;
    for (let n = 0; n < CASES; n++) {
      const swept = await sample(dice.pick(cases), dice, CUTS);
      cuts += swept.cuts;
      const [problem] = swept.problems;
      t.is(problem, undefined, `${problem?.message}\n  see it again: npm run -s cuts -- ${problem?.id}`);
    }
    t.true(cuts >= CASES * CUTS);
    t.log(`${cuts} cuts`);
  });
}
