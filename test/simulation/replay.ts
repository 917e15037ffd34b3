import test from "ava";
import { tell } from "./simulated-run.js";

/** A seed is one story, down to the byte, wherever and however often it is told. */
export function staysTheSame(seed: number): void {
  test(`story ${seed} is the same each time it is told, byte by byte`, async (t) => {
    const first = await tell(seed);
    await tell(seed + 1);
    const second = await tell(seed);
    t.deepEqual(second.trace, first.trace);
    t.is(second.world.digest, first.world.digest);
    t.true(first.world.platform.seen.length > 0);
  });
}
