// What is exact must not become worse unseen.
import test from "ava";
import { CHIP } from "../test/chip/chip.js";
import { compare } from "./budget.js";
import { CHIP_SLACK, instructionsOf, measureChip } from "./chip/budget.js";
import { whatIsMissing } from "./chip/missing.js";
import { readResults } from "./results.js";
import { missingForExact, rows } from "./rows.js";

const { budget } = readResults();
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

test("reports a figure that is 5 % worse, missing, new or not a number", (t) => {
  t.deepEqual(compare({ bytes: 105 }, { bytes: 100 }), { worse: [], better: [] });
  t.deepEqual(compare({ bytes: 106 }, { bytes: 100 }).worse, ["bytes: 106, budget 100"]);
  t.deepEqual(compare({}, { bytes: 100 }).worse, ["bytes: not measured, budget 100"]);
  t.deepEqual(compare({ bytes: 1 }).worse, ["bytes: 1, budget none"]);
  t.deepEqual(compare({ bytes: Number.NaN }, { bytes: 100 }).worse, ["bytes: NaN, budget 100"]);
  t.deepEqual(compare({ bytes: 1 }, { bytes: 0 }).worse, ["bytes: 1, budget 0"]);
  t.deepEqual(compare({ bytes: 90, slots: 0 }, { bytes: 100, slots: 0 }), {
    worse: [],
    better: ["bytes: 90, budget 100"],
  });
});

// Instructions on the chip must not grow unnoticed. results.json is the budget.

const MINUTE = 60_000;
const lacks = whatIsMissing();
const title = "a wake, an RPC, an attribute change and 50 points take at most a fifth more instructions";

if (lacks !== undefined) test.skip(`${title} (${lacks})`, () => {});
else
  test(title, async (t) => {
    // Images are built first, unless they were kept.
    t.timeout(40 * MINUTE);
    const kept = instructionsOf(readResults().chip[CHIP.name]?.mote);
    const say = (line: string): void => t.log(line);
    let { worse, better } = compare(await measureChip(say), kept, CHIP_SLACK);
    // A busy machine may disturb one session.
    if (worse.length > 0) ({ worse, better } = compare(await measureChip(say), kept, CHIP_SLACK));
    if (better.length > 0) t.log(`better than bench/results.json: ${better.join("; ")}`);
    t.deepEqual(worse, [], "if it is meant: node scripts/campaign.mjs bench-chip --program mote");
  });
