// --undo against a hand-over at the same time, against interruptions, and against packages and
// devices that are gone.
import test from "ava";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { firstOf, startRig } from "./rig.js";

/** Calls `step` once, before the next call of `method`. */
function before<T extends object, K extends keyof T>(
  owner: T,
  method: K,
  step: () => Promise<unknown>,
): void {
  const original = owner[method] as (...args: unknown[]) => Promise<unknown>;
  owner[method] = (async (...args: unknown[]) => {
    owner[method] = original as T[K];
    await step();
    return original.apply(owner, args);
  }) as T[K];
}

test("a hand-over that --undo overtakes gives the profile's package back and says so", async (t) => {
  const rig = await startRig(t, 4);
  const old = await rig.release("1.5.0");
  await rig.operator.ota.assignToProfile(rig.profile.id.id, old.packageId);
  let undone: unknown;
  before(rig.operator.ota, "assignToProfile", async () => {
    undone = await rig.undo();
  });
  t.like(await rig.run(), { end: "overtaken" });
  t.like(undone, { devices: 4, failed: [] });
  t.is(await rig.profilePackage(), old.packageId);
  t.deepEqual(new Set(Object.values(await rig.assigned())), new Set(["profile"]));
});

for (const [when, method] of [
  ["takes the devices back", "assign"],
  ["deletes its marks", "delete"],
] as const)
  test(`--undo gives the profile back if the hand-over comes while it ${when}`, async (t) => {
    const rig = await startRig(t, 4);
    let isKilled = false;
    before(rig.operator.ota, "assignToProfile", () => {
      isKilled = true;
      return Promise.reject(new Error("killed"));
    });
    await t.throwsAsync(rig.run());
    t.true(isKilled);
    const { ota, attributes } = rig.operator;
    const handOver = () => ota.assignToProfile(rig.profile.id.id, rig.target.packageId);
    if (method === "assign") before(ota, method, handOver);
    else before(attributes, method, handOver);
    t.like(await rig.undo(), { devices: 4, failed: [] });
    t.is(await rig.profilePackage(), undefined);
  });

test("a rollout stops at once when --undo marks its devices", async (t) => {
  const rig = await startRig(t, 12);
  const { ota } = rig.operator;
  const outcome = await rig.run({}, async () => {
    if (rig.waits !== 2) return;
    before(ota, "assign", () => Promise.reject(new Error("killed")));
    await t.throwsAsync(rig.undo());
  });
  t.like(outcome, { end: "overtaken", devices: [{ why: "being taken back" }] });
  t.like(await rig.undo(), { devices: 1, failed: [] });
  t.is(await rig.record(await firstOf(rig)), undefined);
});

test("a rollout that replaces another and is interrupted at a mark keeps the device", async (t) => {
  const rig = await startRig(t, 6);
  const second = await rig.release("3.0.0");
  t.like(await rig.run({ stages: parseStages("3") }), { end: "done", assigned: 3 });
  before(rig.operator.devices, "save", () => Promise.reject(new Error("killed")));
  await t.throwsAsync(rig.run({ target: second }));
  t.like(await rig.run({ target: second }), { end: "done", isProfiles: true, passed: 6, pinned: [] });
});

test("--undo reports a deleted package, restores the others, and ends after a new assignment", async (t) => {
  const rig = await startRig(t, 4);
  const old = await rig.release("1.5.0");
  const special = await rig.release("1.6.0");
  await rig.operator.ota.assignToProfile(rig.profile.id.id, old.packageId);
  t.like(await rig.run({ target: special, stages: parseStages("1") }), { end: "done", assigned: 1 });
  const name = await firstOf(rig);
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 4 });
  for (const { packageId } of [old, special]) await rig.operator.ota.delete(packageId);
  const undone = await rig.undo();
  t.is(undone.devices, 0, "their profile still has the image");
  t.deepEqual(undone.failed.map(({ device }) => device).sort(), ["profile pumps", name]);
  for (const { why } of undone.failed) t.regex(why, /its earlier package was deleted/);
  await rig.operator.ota.assignToProfile(rig.profile.id.id, undefined);
  await rig.operator.ota.assign(rig.named(name).device.id, undefined);
  t.like(await rig.undo(), { failed: [], changed: [name] });
  t.like(await rig.undo(), { devices: 0, failed: [], changed: [] });
});

test("--undo names a device that is deleted meanwhile and takes back the others", async (t) => {
  for (const method of ["set", "delete"] as const) {
    const rig = await startRig(t, 4);
    t.like(await rig.run(), { end: "done", passed: 4 });
    const { all } = (await rig.rollout()).members;
    const gone = all[2];
    const drop = () => rig.operator.devices.delete(gone?.id ?? "");
    before(rig.operator.attributes, method, drop);
    const undone = await rig.undo();
    t.like(undone, { devices: 3, failed: [{ device: gone?.name, why: "deleted from the platform" }] });
    t.is(await rig.profilePackage(), undefined);
    t.like(await rig.undo(), { devices: 0, failed: [] });
  }
});
