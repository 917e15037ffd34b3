// What a rollout leaves on its devices: nothing that a later one could take for unfinished.
import test from "ava";
import { refuseOther } from "../../../../tools/cli/commands/firmware/stages.js";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { OperatorError } from "../../../../tools/operator/error.js";
import { openPart } from "../../../../tools/operator/rollout-record.js";
import { firstOf, startRig } from "./rig.js";

test("after a finished rollout, a pinned device is left out, listed, and keeps its package", async (t) => {
  const rig = await startRig(t, 5);
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 5 });
  const name = await firstOf(rig);
  t.is(openPart((await rig.record(name))!), undefined);
  await rig.operator.ota.assign(rig.named(name).id, rig.target.packageId);
  const next = await rig.release("3.0.0");
  await t.notThrowsAsync(refuseOther(rig.operator, rig.profile, next.packageId));
  t.like(await rig.run({ target: next }), { end: "done", isProfiles: true, passed: 4, pinned: [name] });
  t.is((await rig.assigned())[name], "2.0.0");
  // The rollout of 2.0.0 is over: there is nothing to take back.
  t.like(await rig.undo(), { devices: 0, changed: [] });
  t.is(await rig.profilePackage(), next.packageId);
});

test("--undo of a finished rollout leaves a pinned device alone", async (t) => {
  const rig = await startRig(t, 4);
  t.like(await rig.run(), { end: "done", isProfiles: true });
  const name = await firstOf(rig);
  await rig.operator.ota.assign(rig.named(name).id, rig.target.packageId);
  t.like(await rig.undo(), { devices: 3, changed: [name], failed: [] });
  t.is((await rig.assigned())[name], "2.0.0");
});

test("a finished rollout of an earlier image can be rolled out again", async (t) => {
  const rig = await startRig(t, 4);
  t.like(await rig.run(), { end: "done" });
  const next = await rig.release("3.0.0");
  await rig.operator.ota.assignToProfile(rig.profile.id.id, next.packageId);
  await rig.clock.advance(10 * 60_000);
  t.true(rig.fleet.every(({ version }) => version === "3.0.0"));
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 4 });
  t.true(rig.fleet.every(({ version }) => version === "2.0.0"));
});

test("an interrupted hand-over is named as such, and its command finishes it", async (t) => {
  const rig = await startRig(t, 4);
  const { devices } = rig.operator;
  const save = devices.save.bind(devices);
  devices.save = async (device) => {
    if (device.firmwareId === null) throw new Error("killed");
    return save(device);
  };
  await t.throwsAsync(rig.run(), { message: "killed" });
  devices.save = save;
  const next = await rig.release("3.0.0");
  await t.throwsAsync(refuseOther(rig.operator, rig.profile, next.packageId), {
    message:
      /^pump 2\.0\.0 is being handed over to the profile, with 4 devices left .*: run its command again/,
  });
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 4 });
  t.deepEqual(new Set(Object.values(await rig.assigned())), new Set(["profile"]));
  await t.notThrowsAsync(refuseOther(rig.operator, rig.profile, next.packageId));
});

test("an unfinished rollout of another image is named with its devices", async (t) => {
  const rig = await startRig(t, 4);
  t.like(await rig.run({ stages: parseStages("1") }), { end: "done", isProfiles: false });
  await t.throwsAsync(refuseOther(rig.operator, rig.profile, ""), {
    message: `pump 2.0.0 is rolled out to 1 device of the profile (${await firstOf(rig)}): finish it, take it back with --undo, or take over with --replace`,
  });
});

test("an assignment that the platform refuses leaves no record", async (t) => {
  const rig = await startRig(t, 3);
  const { devices } = rig.operator;
  const message = "Can't assign firmware with different deviceProfile!";
  devices.save = () => Promise.reject(new OperatorError(400, message));
  await t.throwsAsync(rig.run(), { message });
  for (const { device } of rig.fleet) t.is(await rig.record(device.name), undefined);
});

test("an assignment whose answer cannot be read keeps its record, so that --undo finds the device", async (t) => {
  const rig = await startRig(t, 3);
  const { devices } = rig.operator;
  const { save } = devices;
  devices.save = async (device) => {
    await save.call(devices, device);
    devices.save = save;
    throw new OperatorError(200, "POST /api/device: unexpected answer: nothing");
  };
  await t.throwsAsync(rig.run(), { message: /unexpected answer/ });
  t.like(await rig.undo(), { devices: 1, failed: [] });
  t.deepEqual(new Set(Object.values(await rig.assigned())), new Set(["profile"]));
});
