// A seed is one story, down to the byte, wherever and however often it is told.
import test from "ava";
import { tell } from "./stories.js";

const SEEDS = [7, 68, 1001, 20_261];

for (const seed of SEEDS) {
  test(`story ${seed} is the same each time it is told, byte by byte`, async (t) => {
    const first = await tell(seed);
    await tell(seed + 1);
    const second = await tell(seed);
    t.deepEqual(second.trace, first.trace);
    t.is(second.world.digest, first.world.digest);
    t.true(first.world.platform.seen.length > 0);
  });
}

test("another seed is another story", async (t) => {
  t.not((await tell(7)).world.digest, (await tell(8)).world.digest);
});
