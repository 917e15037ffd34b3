// Only evidence for every planned device makes a proof, and only a proof hands an image to a profile.
import test from "ava";
import { type Evidence, ProvenRollout } from "../../../../tools/cli/rollout/evidence.js";
import { handOver } from "../../../../tools/cli/rollout/hand-over.js";
import { Operator } from "../../../../tools/operator/operator.js";

const ids = { packageId: "p-1", profileId: "pr-1" };
const evidence = (planned: string[], passed: string[], leftOut: string[] = []): Evidence => ({
  ...ids,
  planned: new Set(planned),
  passed: new Set(passed),
  leftOut: new Map(leftOut.map((id) => [id, { device: id, why: "offline" }])),
});

test("a rollout is proven if each device passed or is left out by name, and one passed", (t) => {
  for (const proved of [
    evidence(["a"], ["a"]),
    evidence(["a", "b"], ["a"], ["b"]),
    evidence(["a", "b"], ["a", "b"], ["b"]),
    evidence(["a"], ["a", "x"], ["y"]),
  ])
    t.true(ProvenRollout.prove(proved) !== undefined);
  for (const open of [
    evidence([], []),
    evidence(["a"], []),
    evidence(["a"], [], ["a"]),
    evidence(["a", "b"], ["a"]),
    evidence(["a", "b"], ["a", "x"]),
    evidence(["a", "b"], ["a"], ["x"]),
    evidence(["a"], ["x"], ["a"]),
    evidence([], ["x"]),
  ])
    t.is(ProvenRollout.prove(open), undefined);
});

test("nothing that only looks like a proof hands an image over", async (t) => {
  const operator = new Operator({ url: "http://127.0.0.1:9" });
  // @ts-expect-error The constructor is private.
  t.throws(() => new ProvenRollout(undefined), { instanceOf: TypeError });
  // @ts-expect-error A literal lacks the private brand.
  await t.throwsAsync(handOver(operator, { ...ids }, [], 0), { instanceOf: TypeError });
  const copy = { ...ProvenRollout.prove(evidence(["a"], ["a"])) };
  await t.throwsAsync(handOver(operator, copy as ProvenRollout, [], 0), { instanceOf: TypeError });
});
