// What a platform sees of 100,000 devices when it comes back.
import test from "ava";
import { busiest, bySecond, comeBack, peakOverMean } from "./comeback.js";
import { crowdComesBack, pollsAfter } from "./whole-agents.js";

const DEVICES = 100_000;
const MINUTE = 60_000;
const seed = Number(process.env.MOTE_SEED ?? Date.now() % 1e9);

for (const minutes of [10, 60]) {
  test(`after ${minutes} min without the platform devices come back evenly: the busiest second has 1.4 times the mean at most`, (t) => {
    t.log(`MOTE_SEED=${seed} replays this run`);
    const seconds = bySecond(comeBack(DEVICES, { ms: minutes * MINUTE }, seed));
    t.true(peakOverMean(seconds) <= 1.4, `${peakOverMean(seconds)}, MOTE_SEED=${seed}`);
  });
}

test("after a minute without the platform no second has more than 2.5 % of the devices", (t) => {
  t.log(`MOTE_SEED=${seed} replays this run`);
  const most = busiest(bySecond(comeBack(DEVICES, { ms: MINUTE }, seed)));
  t.true(most <= 0.025 * DEVICES, `${most}, MOTE_SEED=${seed}`);
});

test("after a minute of silence no second has more than 4 % of the devices, though each attempt took as long", (t) => {
  t.log(`MOTE_SEED=${seed} replays this run`);
  const most = busiest(bySecond(comeBack(DEVICES, { ms: MINUTE, attemptMs: 35_000 }, seed)));
  t.true(most <= 0.04 * DEVICES, `${most}, MOTE_SEED=${seed}`);
});

for (const what of ["answers", "connections"] as const) {
  test(`whole agents that are switched on together and wait for ${what} in vain try again at different times`, async (t) => {
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
  test(`${connections} connection(s), ${seconds} s: whole agents come back as their back-off alone does`, async (t) => {
    const outageMs = seconds * 1000;
    const model = comeBack(20_000, { ms: outageMs }, 1);
    const crowd = await crowdComesBack({ devices: 100, connections, outageMs, seed: 1 });
    const distance = farthest(crowd, model);
    t.log(`their distributions are ${distance.toFixed(3)} apart`);
    // Of 100 draws from one distribution, one set in 1,000 is farther away (Kolmogorov and Smirnov).
    t.true(distance < 0.195, `${distance}`);
  });
}

test("devices that lost the platform together for a moment do not poll in step from then on", async (t) => {
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
