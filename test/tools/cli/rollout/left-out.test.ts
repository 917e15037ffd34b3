// Which devices of the profile a rollout leaves out, and what it says about them.
import test from "ava";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { MINUTE, startRig } from "./rig.js";

test("leaves out devices of another title, and keeps the image from the profile they follow", async (t) => {
  const rig = await startRig(t, 3);
  const valve = rig.add("valve", "good", "valve");
  const other = await rig.operator.profiles.save({ name: "valves" });
  const why = "running the firmware valve 1.0.0";
  const rollout = await rig.rollout();
  t.deepEqual(rollout.leftOut, [{ device: "valve", why }]);
  const outcome = await rollout.run();
  t.like(outcome, { end: "withheld", all: 3, passed: 3, otherTitle: [{ device: "valve", why }] });
  t.is(await rig.profilePackage(), undefined);
  t.deepEqual(valve.began, []);
  t.is((await rig.assigned()).valve, "profile");
  // Its own profile, and the same command again: the rollout ends.
  const device = await rig.operator.devices.get(valve.id);
  await rig.operator.devices.save({ ...device, deviceProfileId: other.id });
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 3, otherTitle: [] });
});

test("hands over to the profile if the other title has a package of its own", async (t) => {
  const rig = await startRig(t, 2);
  const valve = rig.add("valve", "good", "valve");
  const profileId = rig.profile.id.id;
  const { id } = await rig.operator.ota.create({
    ...{ title: "valve", version: "1.0.0", deviceProfileId: profileId },
  });
  await rig.operator.ota.upload(id.id, Buffer.from("valve"));
  await rig.operator.ota.assign(valve.id, id.id);
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 2, pinned: ["valve"] });
  t.is((await rig.assigned()).valve, id.id);
});

test("leaves out a device that reports another title before its stage", async (t) => {
  const rig = await startRig(t, 6);
  const { all } = (await rig.rollout()).members;
  const { device } = rig.named(all[5]!.name);
  const { core } = rig.platform;
  const outcome = await rig.run({}, () => {
    if (rig.waits === 2) core.receiveTelemetry(device, core.clock.now(), [["current_fw_title", "valve"]]);
  });
  t.like(outcome, { end: "withheld", all: 5, passed: 5 });
  t.deepEqual(outcome.otherTitle, [{ device: device.name, why: "running the firmware valve 1.0.0" }]);
  t.deepEqual(rig.named(device.name).began, []);
});

test("a device that joins meanwhile is late: it gets the image with the profile", async (t) => {
  const rig = await startRig(t, 10);
  const outcome = await rig.run({}, () => {
    if (rig.waits === 2) rig.add("late-1");
    if (rig.said.includes("stage 3: 10 of 10") && rig.fleet.length === 11) rig.add("late-2");
  });
  t.like(outcome, { end: "done", isProfiles: true, all: 10, passed: 10, late: ["late-1", "late-2"] });
  const said = rig.said.filter((line) => line.includes("is late"));
  t.deepEqual(
    said,
    ["late-1", "late-2"].map(
      (name) => `${name} is late, joined the profile after this command began: it is left out.`,
    ),
  );
  await rig.clock.advance(5 * MINUTE);
  t.is(rig.named("late-1").version, "2.0.0");
});

test("the next call of a stopped rollout plans late devices in", async (t) => {
  const rig = await startRig(t, 4);
  const stages = parseStages("1,2");
  const outcome = await rig.run({ stages }, () => {
    if (rig.waits === 2) rig.add("late-1");
  });
  t.like(outcome, { end: "done", isProfiles: false, all: 4, late: ["late-1"] });
  t.is(rig.named("late-1").began.length, 0);
  t.like(await rig.run(), { end: "done", isProfiles: true, all: 5, passed: 5, late: [] });
});

test("--undo says what became of the profile's package", async (t) => {
  const rig = await startRig(t, 3);
  t.like(await rig.run(), { end: "done", isProfiles: true });
  t.like(await rig.undo(), { devices: 3, profile: "cleared" });
  const old = await rig.release("1.5.0");
  await rig.operator.ota.assignToProfile(rig.profile.id.id, old.packageId);
  await rig.clock.advance(10 * MINUTE);
  t.like(await rig.run(), { end: "done", isProfiles: true });
  t.like(await rig.undo(), { devices: 3, profile: "restored" });
  t.is(await rig.profilePackage(), old.packageId);
  await rig.clock.advance(10 * MINUTE);
  t.like(await rig.run({ stages: parseStages("1") }), { end: "done", isProfiles: false });
  t.like(await rig.undo(), { devices: 1, profile: "unchanged" });
});
