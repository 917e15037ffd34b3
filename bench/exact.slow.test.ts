// No other exact figure grows unseen.
import test from "ava";
import { lacking, measureExact, NAMES } from "./exact.js";
import { readResults } from "./results.js";

const SLACK = 1.05;

for (const name of NAMES.filter((name) => name !== "traffic")) {
  const lacks = lacking(name);
  const declare = lacks === undefined ? test.serial : test.skip;
  declare(`${name}: no figure is 5 % above bench/results.json`, async (t) => {
    const stored = readResults().exact[name] as Readonly<Record<string, number>>;
    const figures = (await measureExact(name)) as Readonly<Record<string, number>>;
    t.deepEqual(Object.keys(figures), Object.keys(stored));
    for (const [what, figure] of Object.entries(figures))
      t.true(
        figure <= stored[what]! * SLACK,
        `${what}: ${figure}, stored ${stored[what]}; if meant: npm run bench -- --keep`,
      );
  });
}
