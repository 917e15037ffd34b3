// Rollouts by stages, as the page of updates shows them.
import test from "ava";
import { type Noted, rolloutsOf } from "../../../../tools/console/model/rollouts.js";
import type { Stage } from "../../../../tools/console/model/update-stage.js";

const note = (stage: number, more: object = {}): string =>
  JSON.stringify({
    ...{ package: "p", title: "pump", version: "2.0.0", stage, plan: [1, 4, 10], at: 5 },
    ...more,
  });
const of = (stage: Stage, text: string): Noted => ({ stage, note: text });

test("each stage says how many stand where, and whether it is over", (t) => {
  const [rollout, ...more] = rolloutsOf([
    of("kept", note(1, { passed: true })),
    of("kept", note(2)),
    of("downloading", note(2)),
    of("none", ""),
  ]);
  t.deepEqual(more, []);
  t.is(rollout?.name, "pump 2.0.0");
  t.deepEqual(rollout?.stages, [
    { title: "Stage 1: 1 device", state: "done", note: "1 good" },
    { title: "Stage 2: 3 devices", state: "now", note: "1 updating, 1 updated, watched, 1 not assigned" },
    { title: "Stage 3: 6 devices", state: "ahead", note: "6 not assigned" },
  ]);
});

test("a stage with a device that failed, or passed and was rolled back later, says so", (t) => {
  const [rollout] = rolloutsOf([of("rolledBack", note(1, { passed: true })), of("failed", note(2))]);
  t.deepEqual(
    rollout?.stages.map(({ state }) => state),
    ["failed", "failed", "ahead"],
  );
  t.is(rollout?.stages[0]?.note, "1 failed");
});

test("the newest rollout comes first, and what anybody else wrote there is none", (t) => {
  const found = rolloutsOf([
    of("kept", note(1)),
    of("kept", note(1, { package: "q", version: "3.0.0", at: 9 })),
    ...[
      "{",
      "5",
      "null",
      "[]",
      '{"package":"x"}',
      note(1, { plan: [] }),
      note(1, { plan: "1" }),
      note(1, { title: 5 }),
    ].map((text) => of("kept", text)),
    of("kept", note(1, { plan: Array(101).fill(1) })),
  ]);
  t.deepEqual(
    found.map(({ name }) => name),
    ["pump 3.0.0", "pump 2.0.0"],
  );
});
