// Invariants are checked in every test that has a fake host; test/architecture looks for them in
// board images.
import test from "ava";
import { invariant } from "../../src/invariant.js";

test("calls the listener for an invariant that does not hold, and none without a listener", (t) => {
  const listener = globalThis as { moteInvariantBroken?: ((what: string) => void) | undefined };
  const broken: string[] = [];
  invariant("nobody listens", () => t.fail() === undefined);
  listener.moteInvariantBroken = (what) => broken.push(what);
  invariant("holds", () => true);
  invariant("does not hold", () => false);
  listener.moteInvariantBroken = undefined;
  t.deepEqual(broken, ["does not hold"]);
});
