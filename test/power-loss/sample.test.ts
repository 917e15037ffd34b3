// A sample of the power losses: from each part some cases, in each some power losses, drawn by the
// seed. All: the other files, and node scripts/campaign.mjs power-loss.
import test from "ava";
import { SEED } from "../sample.js";
import { Dice } from "../simulation/dice.js";
import { all } from "./all.js";
import { bitFlipTests } from "./declare-flips.js";
import { sample } from "./runner.js";

const CASES = 4;
/** A case; every other one is followed by a second. */
const POWER_LOSSES = 6;

for (const [group, cases] of Object.entries(all)) {
  test.serial(`${group}: a sample of power losses breaks no promise (seed ${SEED})`, async (t) => {
    const dice = new Dice(SEED);
    let powerLosses = 0;
    for (let n = 0; n < CASES; n++) {
      const swept = await sample(dice.pick(cases), dice, POWER_LOSSES);
      powerLosses += swept.powerLosses;
      const [problem] = swept.problems;
      t.is(
        problem,
        undefined,
        `${problem?.message}\n  see it again: node scripts/campaign.mjs power-loss ${problem?.id}`,
      );
    }
    t.true(powerLosses >= CASES * POWER_LOSSES);
    t.log(`${powerLosses} power losses`);
  });
}

// One bit of each byte, drawn by the seed. All eight: queue.slow.test.ts.

bitFlipTests(new Dice(SEED));
