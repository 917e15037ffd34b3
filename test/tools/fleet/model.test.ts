// What a server sees of a fleet, computed: beside a few whole agents, with each number of connections. A thousand: model.slow.test.ts.
import test from "ava";
import { figuresOf, Load } from "../../../tools/fleet/model/load.js";
import { compare } from "./model-check.js";

/** One for all runs: of twelve devices three connections more or less are 8 %, which one seed in ten draws. */
const SEED = 1;

for (const connections of [1, 2, 3] as const)
  test(`with ${connections} connection(s) a model sees what a platform sees of whole agents, within 5 %`, (t) =>
    compare(
      t,
      {
        ...{ devices: 12, connections, intervalS: 5, cut: 240, back: 300, end: 480 },
        ...{ batchAgeMs: 12_000, batchPoints: 8 },
        figures: ["mean", "busiestMinute"],
      },
      SEED,
    ));

test("a load counts by the second, and takes no notice of what comes after its end", (t) => {
  const load = new Load(120);
  load.request(500, 100, 3);
  load.request(61_000, 50);
  load.request(61_000, 50, 0, -1);
  load.request(120_000, 50);
  load.answer(999, 10);
  load.opened(0, 5);
  load.opened(2000, 5);
  load.closed(3000);
  t.deepEqual([load.requests[0], load.bytes[0], load.points[0], load.requests[61]], [1, 115, 3, 0]);
  t.deepEqual([...load.open().subarray(0, 4)], [1, 1, 2, 1]);
  t.deepEqual(figuresOf(load.requests), { mean: 1 / 120, busiestMinute: 1 / 60, busiestSecond: 1 });
  t.deepEqual(figuresOf(load.requests, 1), { mean: 0, busiestMinute: 0, busiestSecond: 0 });
});
