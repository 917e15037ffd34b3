// Which device is in which stage, where a rollout stops, and what proves an image.
import test from "ava";
import { InvalidArgumentError } from "commander";
import { type DeviceState, standingOf } from "../../../../tools/cli/rollout/device-state.js";
import { isProven } from "../../../../tools/cli/rollout/evidence.js";
import { inOrder, parseStages, plan } from "../../../../tools/cli/rollout/stages.js";
import { began, firstOf, MINUTE, startRig } from "./rig.js";

const planned = (text: string, all: number): number[] => plan(parseStages(text), all);
const named = (from: number, to: number): { name: string }[] =>
  Array.from({ length: to - from }, (_, n) => ({ name: `pump-${from + n}` }));

test("stages are numbers of devices and percentages, each with those before it", (t) => {
  t.deepEqual(planned("1,10%,100%", 1000), [1, 100, 1000]);
  t.deepEqual(planned("1,10%,100%", 15), [1, 2, 15]);
  t.deepEqual(planned("1,10%,100%", 1), [1, 1, 1]);
  t.deepEqual(planned("1,10%,100%", 0), [0, 0, 0]);
  t.deepEqual(planned("5,10%,100%", 20), [5, 5, 20]);
  t.deepEqual(planned("0.1%,0.3%", 1000), [1, 3]);
  t.deepEqual(planned("7%,14%,28%,29%", 100), [7, 14, 28, 29]);
  t.deepEqual(planned("100%", 3), [3]);
});

test("refuses stages that are invalid or do not rise", (t) => {
  for (const text of " 0 0% 101% 1, 1,1 10%,5% 5,2 10%,5 -1 1.5 1e3 all 1;2 %".split(" "))
    t.throws(() => parseStages(text), { instanceOf: InvalidArgumentError }, text);
  t.is(parseStages("1, 10%").length, 2);
});

test("a device keeps its stage across calls, list order and membership changes", (t) => {
  const order = inOrder(named(0, 1000)).map(({ name }) => name);
  t.deepEqual(
    inOrder(named(0, 1000).reverse()).map(({ name }) => name),
    order,
  );
  // The SHA-256 of a name is the same on every machine and in ten years.
  t.deepEqual(order.slice(0, 3), ["pump-940", "pump-700", "pump-253"]);
  const fewer = new Set(named(0, 500).map(({ name }) => name));
  t.deepEqual(
    inOrder(named(0, 500)).map(({ name }) => name),
    order.filter((name) => fewer.has(name)),
  );
});

test("stages follow each other after update and soak; then the profile gets the image", async (t) => {
  const rig = await startRig(t, 30);
  const at = rig.clock.now();
  const begun = new Set<number>();
  const outcome = await rig.run({}, () => {
    if (rig.clock.now() - at < 10 * MINUTE) begun.add(began(rig, "2.0.0"));
  });
  t.like(outcome, { end: "done", isProfiles: true, assigned: 30, passed: 30, all: 30 });
  t.deepEqual(rig.said, [
    ...["stage 1: 1 of 30", "stage 1 is over"],
    ...["stage 2: 3 of 30", "stage 2 is over"],
    ...["stage 3: 30 of 30", "stage 3 is over"],
  ]);
  // Nobody but the first of them for the first ten minutes.
  t.deepEqual([...begun], [0, 1]);
  t.true(rig.clock.now() - at >= 30 * MINUTE && rig.clock.now() - at < 36 * MINUTE);
  t.deepEqual(new Set(Object.values(await rig.assigned())), new Set(["profile"]));
  t.is(await rig.profilePackage(), rig.target.packageId);
  // The hand-over to the profile notifies nobody: no device begins again.
  await rig.clock.advance(10 * MINUTE);
  t.true(rig.fleet.every(({ began: versions }) => versions.length === 1));
  // Once more is over at once.
  rig.said.length = 0;
  const again = rig.clock.now();
  t.like(await rig.run(), { end: "done", passed: 30 });
  t.is(rig.clock.now(), again);
});

test("later failures and recovery mode stop the rollout; --stop-at sets the count", async (t) => {
  const rig = await startRig(t, 30);
  const { all } = (await rig.rollout()).members;
  rig.named(all[2]?.name ?? "").fate = "fails";
  t.like(await rig.run(), { end: "failed", stage: 2, assigned: 3, passed: 1 });
  t.is(began(rig, "2.0.0"), 3);
  t.like(await rig.run(), { end: "failed", stage: 2, assigned: 3 });
  rig.named(all[20]?.name ?? "").fate = "recovers";
  const outcome = await rig.run({ stopAt: 2 });
  t.like(outcome, { end: "failed", stage: 3, assigned: 30 });
  const why = outcome.end === "failed" ? outcome.devices.map((one) => one.why) : [];
  t.deepEqual(why, ["rolled back: self-test failed", "in recovery mode: it divided by zero"]);
  t.like(await rig.run({ stopAt: 3 }), { end: "done", passed: 28 });
});

test("a device that is back at the image before without a word ends it", async (t) => {
  const rig = await startRig(t, 5);
  const name = await firstOf(rig);
  rig.named(name).fate = "goes back";
  const outcome = await rig.run();
  t.like(outcome, { end: "failed", stage: 1, assigned: 1 });
  t.deepEqual(outcome.end === "failed" && outcome.devices, [
    { device: name, why: "it went back to pump 1.0.0" },
  ]);
});

test("a state counts only if the device was told of this image before, by the platform's clock", (t) => {
  const wanted = { title: "pump", version: "2.0.0", checksum: "c2" };
  const kindOf = (ts: number, value: string, assigned: Partial<DeviceState["assigned"]> = {}): string =>
    standingOf(
      {
        ...{ id: "d", error: "", title: "pump", version: "2.0.0", checksum: "c2", recovery: "" },
        ...{ active: true, heardAt: 10_000, silentAt: 0, record: undefined, state: { ts, value } },
        assigned: { at: 5_000, version: "2.0.0", checksum: "c2", ...assigned },
      },
      undefined,
      wanted,
      60_000,
    ).kind;
  t.deepEqual(
    [4_999, 5_000, 5_001].map((ts) => kindOf(ts, "UPDATED")),
    ["open", "open", "soaking"],
  );
  t.deepEqual(
    [4_999, 5_001].map((ts) => kindOf(ts, "FAILED")),
    ["open", "failed"],
  );
  t.is(kindOf(6_000, "UPDATED", { version: "1.0.0" }), "open");
  t.is(kindOf(6_000, "UPDATED", { checksum: "c1" }), "open");
});

test("a rollout is proven if each device passed or is left out by name, and one passed", (t) => {
  for (const [planned, passed, leftOut, expected] of [
    ["a", "a", "", true],
    ["ab", "a", "b", true],
    ["a", "ax", "y", true],
    ["", "", "", false],
    ["a", "", "", false],
    ["a", "", "a", false],
    ["ab", "a", "x", false],
    ["a", "x", "a", false],
  ] as const) {
    const left = new Map([...leftOut].map((id) => [id, { device: id, why: "offline" }]));
    const evidence = { planned: new Set(planned), passed: new Set(passed), leftOut: left };
    t.is(isProven(evidence), expected, `${planned} ${passed} ${leftOut}`);
  }
});
