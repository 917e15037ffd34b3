import test from "ava";
import { simulate } from "./simulated-run.js";

/** A seed is one run, down to the byte, wherever and however often it is simulated. */
export function staysTheSame(seed: number): void {
  test(`run ${seed} is the same each time, byte by byte`, async (t) => {
    const first = await simulate(seed);
    await simulate(seed + 1);
    const second = await simulate(seed);
    t.deepEqual(second.trace, first.trace);
    t.is(second.world.digest, first.world.digest);
    t.true(first.world.platform.seen.length > 0);
  });
}
