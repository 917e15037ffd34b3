// What is exact must not become worse unseen.
import test from "ava";
import { compare, readBudget } from "./budget.js";
import { CHIP_SLACK, measureChip, readChipBudget } from "./chip/budget.js";
import { whatIsMissing } from "./chip/missing.js";
import { missingForExact, rows } from "./rows.js";

const budget = readBudget();
const exact = (await rows()).filter((row) => row.exact);

for (const row of exact) {
  const lacks = missingForExact(row);
  const title = `row ${row.id}, ${row.name}: no exact figure is 5 % beyond its budget`;
  if (lacks !== undefined) {
    test.skip(`${title} (${lacks})`, () => {});
    continue;
  }
  test.serial(title, async (t) => {
    const { worse, better } = compare((await row.exact?.()) ?? {}, budget[row.id]);
    if (better.length > 0)
      t.log(`better than the budget (node scripts/campaign.mjs budget keeps it): ${better.join("; ")}`);
    t.deepEqual(worse, [], "if it is meant: node scripts/campaign.mjs budget");
  });
}

test("the budget holds the rows that have exact figures, and no other", (t) => {
  t.deepEqual(
    Object.keys(budget).map(Number),
    exact.map(({ id }) => id),
  );
});

test("a figure that is 5 % worse, missing, new or no number is reported", (t) => {
  t.deepEqual(compare({ bytes: 105 }, { bytes: 100 }), { worse: [], better: [] });
  t.deepEqual(compare({ bytes: 106 }, { bytes: 100 }).worse, ["bytes: 106, budget 100"]);
  t.deepEqual(compare({}, { bytes: 100 }).worse, ["bytes: not measured, budget 100"]);
  t.deepEqual(compare({ bytes: 1 }).worse, ["bytes: 1, budget none"]);
  t.deepEqual(compare({ bytes: Number.NaN }, { bytes: 100 }).worse, ["bytes: NaN, budget 100"]);
  t.deepEqual(compare({ bytes: 1 }, { bytes: 0 }).worse, ["bytes: 1, budget 0"]);
});

test("a figure that is better fails nothing and is reported", (t) => {
  t.deepEqual(compare({ bytes: 90, slots: 0 }, { bytes: 100, slots: 0 }), {
    worse: [],
    better: ["bytes: 90, budget 100"],
  });
});

// What the chip does for a start, a point and an RPC must not become more unseen.

const MINUTE = 60_000;
const lacks = whatIsMissing();
const title = "on the emulated chip no row of the budget takes a fifth more instructions";

if (lacks !== undefined) test.skip(`${title} (${lacks})`, () => {});
else
  test(title, async (t) => {
    // An image is built first, unless it was kept.
    t.timeout(20 * MINUTE);
    const kept = readChipBudget();
    const say = (line: string): void => t.log(line);
    let { worse, better } = compare(await measureChip(1, say), kept, CHIP_SLACK);
    // What a busy machine did to one session it may not do to the next.
    if (worse.length > 0) ({ worse, better } = compare(await measureChip(1, say), kept, CHIP_SLACK));
    if (better.length > 0)
      t.log(`better than the budget (node scripts/campaign.mjs budget keeps it): ${better.join("; ")}`);
    t.deepEqual(worse, [], "if it is meant: node scripts/campaign.mjs budget");
  });
