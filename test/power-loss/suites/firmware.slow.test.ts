import test from "ava";
import { measured, updates } from "../cases/firmware.js";
import { cutTests } from "../declare.js";

cutTests("an update ends with the old image or the new one, and UPDATED", updates, { pairs: 20 });

test.after("what it came to", () => {
  const { cuts, bytesAgain, mostAgain } = measured;
  console.log(
    `${cuts} power cuts; bytes fetched again: ${bytesAgain} in all, ${mostAgain} after one cut at most`,
  );
});
