// A seed is one story, down to the byte; replay.slow.test.ts tries more of them.
import test from "ava";
import { staysTheSame } from "./replay.js";
import { tell } from "./simulated-run.js";

staysTheSame(7);

test("another seed is another story", async (t) => {
  t.not((await tell(7)).world.digest, (await tell(8)).world.digest);
});
