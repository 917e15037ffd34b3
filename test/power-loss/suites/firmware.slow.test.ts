import test from "ava";
import { measured, updates } from "../cases/firmware.js";
import { powerLossTests } from "../declare.js";

powerLossTests("an update ends with the old image or the new one, and UPDATED", updates, { pairs: 20 });

test.after("what it came to", () => {
  const { powerLosses, bytesAgain, mostAgain } = measured;
  console.log(
    `${powerLosses} power losses; bytes fetched again: ${bytesAgain} in all, ${mostAgain} after one power loss at most`,
  );
});
