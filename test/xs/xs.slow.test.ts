// The numbers of connections that scenario.test.ts leaves out, and the lean build.

import { testOnXs } from "./engine/on-xs.js";
import { imageStaysSmall } from "./image.js";
import { longRun } from "./long-run.js";
import { leanTourOnXs, tourOnXs } from "./scenario.js";
import { slotsStay, slotsStayInMemory } from "./slots.js";

tourOnXs(1);
tourOnXs(3);
leanTourOnXs();

for (const connections of [1, 2, 3] as const) slotsStay(connections);
slotsStayInMemory();

for (const connections of [1, 2, 3] as const) imageStaysSmall(connections);

// Days in which all loops work and much goes wrong: two with each number of connections. More: node scripts/campaign.mjs long --days 30

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
