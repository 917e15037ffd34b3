// What a server sees of a fleet, computed, and a thousand whole agents in one run: npx ava -v --timeout 20m test/tools/fleet/model.slow.test.ts
import test from "ava";
import { SEED } from "../../sample.js";
import { compare } from "./model-check.js";

for (const connections of [1, 2, 3] as const)
  test.serial(
    `with ${connections} connection(s) a model sees what a platform sees of 1,000 whole agents, within 5 %, and 10 % in the busiest second`,
    (t) => {
      t.timeout(1_200_000);
      return compare(
        t,
        {
          ...{ devices: 1000, connections, intervalS: 30, cut: 360, back: 480, end: 840 },
          figures: ["mean", "busiestMinute", "busiestSecond"],
        },
        SEED,
      );
    },
  );
