// Days in which all loops work and much goes wrong: two with each number of connections. More: node scripts/campaign.mjs long --days 30

import { testOnXs } from "./engine/on-xs.js";
import { longRun } from "./long-run.js";

const DAYS = 2;

for (const connections of [1, 2, 3] as const) {
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;
  testOnXs(`${mode}: ${DAYS} days hold as many slots as the first, and lose no point`, async (t) => {
    const { slots, points, missing, rpcs, answered, converged } = await longRun(t, connections, DAYS);
    t.is(slots.length, DAYS);
    t.deepEqual(slots, Array(DAYS).fill(slots[0]));
    t.true(points > DAYS * 8640);
    t.is(missing, 0);
    // Those of a time when nobody could be reached come to nothing.
    t.true(answered > 0.9 * rpcs && rpcs > DAYS * 200, `${answered} of ${rpcs}`);
    t.true(converged);
  });
}
