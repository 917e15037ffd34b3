// `node scripts/campaign.mjs budget` measures the exact figures and keeps them in
// results.json. Figures that this machine cannot measure stay.
import { compare } from "./budget.js";
import { keepResults, readResults } from "./results.js";
import { missingForExact, rows } from "./rows.js";

const before = readResults().budget;
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
keepResults({ budget: after });
