// Days in which all loops work and much goes wrong: three with the two connections that are the default, two with one and with three, whose
// loops are the same but for their turns. More: npm run long -- --days 30

import { testOnXs } from "./engine/on-xs.js";
import { longRun } from "./long-run.js";

const DAYS = { 1: 2, 2: 3, 3: 2 } as const;

for (const connections of [1, 2, 3] as const) {
  const days = DAYS[connections];
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;
  testOnXs(`${mode}: ${days} days hold as many slots as the first, and lose no point`, async (t) => {
    const { slots, points, missing, rpcs, answered, converged } = await longRun(t, connections, days);
    t.is(slots.length, days);
    t.deepEqual(slots, Array(days).fill(slots[0]));
    t.true(points > days * 8640);
    t.is(missing, 0);
    // Those of a time when nobody could be reached come to nothing.
    t.true(answered > 0.9 * rpcs && rpcs > days * 200, `${answered} of ${rpcs}`);
    t.true(converged);
  });
}
