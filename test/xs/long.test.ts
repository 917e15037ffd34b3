// Three days in which all loops work and much goes wrong. More: npm run long -- --days 30
import { longRun } from "./long-run.js";
import { testOnXs } from "./on-xs.js";

for (const connections of [1, 2, 3] as const) {
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;
  testOnXs(`${mode}: three days hold as many slots as the first, and lose no point`, async (t) => {
    const { slots, points, missing, rpcs, answered, converged } = await longRun(t, connections, 3);
    t.is(slots.length, 3);
    t.deepEqual(slots, [slots[0], slots[0], slots[0]]);
    t.true(points > 3 * 8640);
    t.is(missing, 0);
    // Those of a time when nobody could be reached come to nothing.
    t.true(answered > 0.9 * rpcs && rpcs > 600, `${answered} of ${rpcs}`);
    t.true(converged);
  });
}
