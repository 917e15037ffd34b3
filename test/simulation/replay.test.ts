// A seed is one run, down to the byte; replay.slow.test.ts tries more of them.
import test from "ava";
import { staysTheSame } from "./replay.js";
import { simulate } from "./simulated-run.js";

staysTheSame(7);

test("another seed is another run", async (t) => {
  t.not((await simulate(7)).world.digest, (await simulate(8)).world.digest);
});
