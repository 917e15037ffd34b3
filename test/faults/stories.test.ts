// The promises, kept through stories of everything that goes wrong at once. More seeds: node dist/test/faults/replay.js FIRST COUNT
import test from "ava";
import { tell } from "./stories.js";

const SEEDS = 60;
const GROUP = 5;

const rejections: string[] = [];
process.on("unhandledRejection", (error) => rejections.push(String(error)));

for (let first = 1; first <= SEEDS; first += GROUP) {
  test.serial(
    `through faults, restarts and clock jumps the promises hold (seeds ${first} to ${first + GROUP - 1})`,
    async (t) => {
      for (let seed = first; seed < first + GROUP; seed++) {
        const { failures } = await tell(seed);
        t.deepEqual(
          [...failures, ...rejections.splice(0)],
          [],
          `see it with: node dist/test/faults/replay.js ${seed}`,
        );
      }
    },
  );
}

test("a story is the same each time it is told", async (t) => {
  t.deepEqual((await tell(7)).trace, (await tell(7)).trace);
});
