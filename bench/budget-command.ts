// `node scripts/campaign.mjs budget` measures the exact figures and rewrites budget.json and
// chip/budget.json. Figures that this machine cannot measure stay.
import { compare, readBudget, writeBudget } from "./budget.js";
import { CHIP_SLACK, measureChip, readChipBudget, writeChipBudget } from "./chip/budget.js";
import { whatIsMissing } from "./chip/missing.js";
import { missingForExact, rows } from "./rows.js";

const before = readBudget();
const after: Record<string, Readonly<Record<string, number>>> = {};
for (const row of await rows()) {
  if (!row.exact) continue;
  const kept = before[row.id];
  const lacks = missingForExact(row);
  if (lacks !== undefined) {
    console.log(`row ${row.id} stays as it is: ${lacks}`);
    if (kept) after[row.id] = kept;
    continue;
  }
  const figures = await row.exact();
  after[row.id] = figures;
  const { worse, better } = compare(figures, kept);
  for (const what of worse) console.log(`row ${row.id}, worse: ${what}`);
  for (const what of better) console.log(`row ${row.id}, better: ${what}`);
}
writeBudget(after);

/** The lesser of so many sessions is kept. */
const SESSIONS = 2;
const lacks = whatIsMissing();
if (lacks !== undefined) console.log(`the rows on the chip stay as they are: ${lacks}`);
else {
  const figures = await measureChip(SESSIONS, (line) => console.log(line));
  const { worse, better } = compare(figures, readChipBudget(), CHIP_SLACK);
  for (const what of worse) console.log(`on the chip, worse: ${what}`);
  for (const what of better) console.log(`on the chip, better: ${what}`);
  writeChipBudget(figures);
}
