// The return of many devices after an outage.
import test from "ava";
import { SEED } from "../../sample.js";
import { busiest, bySecond, comeBack, LONGEST_WAIT_S } from "./comeback.js";
import { crowdComesBack, pollsAfter } from "./whole-agents.js";

// What a platform sees of 100,000 devices when it comes back.

const DEVICES = 100_000;
const MINUTE = 60_000;

test("a fleet comes back evenly: no second is much busier than the mean", (t) => {
  t.log(`MOTE_SEED=${SEED} replays this run`);
  for (const [outage, most] of [
    [{ ms: MINUTE }, 0.025],
    [{ ms: MINUTE, attemptMs: 35_000 }, 0.04],
    [{ ms: 10 * MINUTE }, 1.4 / LONGEST_WAIT_S],
    [{ ms: 60 * MINUTE }, 1.4 / LONGEST_WAIT_S],
  ] as const) {
    const share = busiest(bySecond(comeBack(DEVICES, outage, SEED))) / DEVICES;
    t.true(share <= most, `${JSON.stringify(outage)}: ${share}, MOTE_SEED=${SEED}`);
  }
});

for (const what of ["answers", "connections"] as const) {
  test(`agents switched on together retry at different times without ${what}`, async (t) => {
    const crowd = { devices: 100, connections: 3, outageMs: 60_000, seed: 1, without: what } as const;
    const seconds = bySecond(Float64Array.from(await crowdComesBack(crowd)));
    t.log(`the busiest second has ${busiest(seconds)} of ${crowd.devices}`);
    t.true(busiest(seconds) <= 50, `${busiest(seconds)}`);
  });
}

for (const [connections, seconds] of [
  [1, 60],
  [2, 1200],
  [3, 10],
] as const) {
  test(`${connections} connection(s), ${seconds} s: agents come back as their back-off does`, async (t) => {
    const outageMs = seconds * 1000;
    const model = comeBack(20_000, { ms: outageMs }, 1);
    const crowd = await crowdComesBack({ devices: 100, connections, outageMs, seed: 1 });
    const distance = farthest(crowd, model);
    t.log(`their distributions are ${distance.toFixed(3)} apart`);
    // Of 100 draws from one distribution, one set in 1,000 is farther away (Kolmogorov and
    // Smirnov).
    t.true(distance < 0.195, `${distance}`);
  });
}

test("devices do not poll in step after a shared outage", async (t) => {
  const devices = 60;
  const polls = await pollsAfter({ devices, connections: 3, outageMs: 0, seed: 1, reads: true }, 90);
  for (const [kind, seconds] of Object.entries(polls)) {
    // The first polls after the outage come as the back-off lets them.
    const most = busiest(seconds.slice(5));
    t.log(`the busiest second has ${most} polls of ${devices} devices for ${kind}`);
    t.true(most <= 0.25 * devices, `${seconds}`);
  }
});

/** The greatest difference between two distributions, of which the second is much larger. */
function farthest(few: readonly number[], many: Float64Array): number {
  const sorted = [...few].sort((one, other) => one - other);
  return Math.max(
    ...sorted.map((value, index) => {
      const share = many.filter((other) => other <= value).length / many.length;
      return Math.max(Math.abs(share - index / few.length), Math.abs(share - (index + 1) / few.length));
    }),
  );
}
