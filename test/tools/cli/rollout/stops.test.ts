// A rollout goes from stage to stage, and stops at a device that fails.
import test from "ava";
import { began, firstOf, MINUTE, startRig } from "./rig.js";

test("stages follow each other after update and soak; then the profile gets the image", async (t) => {
  const rig = await startRig(t, 30);
  const target = await rig.release("2.0.0");
  const at = rig.clock.now();
  const begun = new Set<number>();
  const outcome = await rig.run(target, {}, () => {
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
  t.is((await rig.operator.profiles.get(rig.profile.id.id)).firmwareId?.id, target.packageId);
  // The hand-over to the profile notifies nobody: no device begins again.
  await rig.clock.advance(10 * MINUTE);
  t.true(rig.fleet.every(({ began: versions }) => versions.length === 1));
  // Once more is over at once.
  rig.said.length = 0;
  const again = rig.clock.now();
  t.like(await rig.run(target), { end: "done", passed: 30 });
  t.is(rig.clock.now(), again);
});

test("the first failed device stops the rollout, and a second call assigns none either", async (t) => {
  const rig = await startRig(t, 1000);
  const target = await rig.release("2.0.0");
  for (const one of rig.fleet) one.fate = "fails";
  const outcome = await rig.run(target);
  const name = await firstOf(rig);
  const why = "rolled back: the new image failed its self-test";
  const devices = [{ device: name, why, state: "FAILED" }];
  t.like(outcome, { end: "failed", stage: 1, assigned: 1, all: 1000, passed: 0 });
  t.deepEqual(outcome.end === "failed" && outcome.devices, devices);
  t.deepEqual(rig.said, ["stage 1: 1 of 1000", `${name} ${why}`]);
  t.like(await rig.run(target), { end: "failed", stage: 1, assigned: 1 });
  await rig.clock.advance(15 * MINUTE);
  t.is(began(rig, "2.0.0"), 1);
});

test("later failures and recovery mode stop the rollout; --stop-at sets the count", async (t) => {
  const rig = await startRig(t, 30);
  const target = await rig.release("2.0.0");
  const { all } = (await rig.rollout(target)).members;
  rig.named(all[2]?.name ?? "").fate = "fails";
  t.like(await rig.run(target), { end: "failed", stage: 2, assigned: 3, passed: 1 });
  t.is(began(rig, "2.0.0"), 3);
  t.like(await rig.run(target), { end: "failed", stage: 2, assigned: 3 });
  rig.named(all[20]?.name ?? "").fate = "recovers";
  const outcome = await rig.run(target, { stopAt: 2 });
  t.like(outcome, { end: "failed", stage: 3, assigned: 30 });
  const why = outcome.end === "failed" ? outcome.devices.map((one) => one.why) : [];
  t.deepEqual(why, [
    "rolled back: the new image failed its self-test",
    "in recovery mode: it divided by zero",
  ]);
  t.like(await rig.run(target, { stopAt: 3 }), { end: "done", passed: 28 });
});

test("a device that is back at the image before without a word ends it", async (t) => {
  const rig = await startRig(t, 5);
  const target = await rig.release("2.0.0");
  const name = await firstOf(rig);
  rig.named(name).fate = "goes back";
  const outcome = await rig.run(target);
  t.like(outcome, { end: "failed", stage: 1, assigned: 1 });
  t.deepEqual(outcome.end === "failed" && outcome.devices, [
    { device: name, why: "it went back to pump 1.0.0" },
  ]);
});
