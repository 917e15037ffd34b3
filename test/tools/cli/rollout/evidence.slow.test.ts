// An empty or partial answer of the platform never completes a rollout: only evidence for every
// planned device does.
import test, { type ExecutionContext } from "ava";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { OperatorError } from "../../../../tools/operator/error.js";
import type { Operator } from "../../../../tools/operator/operator.js";
import type { ScriptedDevice } from "../../scripted-device.js";
import { began, firstOf, MINUTE, type Rig, startRig } from "./rig.js";

type Find = Operator["entities"]["devices"];

/** Changes what the query for latest values answers. */
function changeQuery({ operator }: Rig, change: (find: Find) => Find): void {
  operator.entities.devices = change(operator.entities.devices.bind(operator.entities));
}

test("times out and names a device that the platform does not return", async (t) => {
  const rig = await startRig(t, 20);
  const name = await firstOf(rig);
  const { devices } = rig.operator;
  const get = devices.get.bind(devices);
  changeQuery(rig, (find) => async (query) => {
    const page = await find(query);
    return rig.waits < 2 ? page : { ...page, data: [], totalElements: 0, totalPages: 0 };
  });
  devices.get = async (id) => {
    if (rig.waits < 2) return get(id);
    throw new OperatorError(0, "GET /api/device: not now");
  };
  const outcome = await rig.run({ leaveOffline: true });
  t.like(outcome, { end: "timeout", stage: 1, all: 20, passed: 0 });
  const why = "the platform does not return its state";
  t.deepEqual(outcome.end === "timeout" && outcome.devices, [{ device: name, why }]);
  t.is(await rig.profilePackage(), undefined);
});

test("an empty or incomplete device list stops the rollout before any assignment", async (t) => {
  const rig = await startRig(t, 20);
  const { devices } = rig.operator;
  const infos = devices.infos.bind(devices);
  devices.infos = async (query) => ({ ...(await infos(query)), data: [], hasNext: false });
  await t.throwsAsync(rig.run(), { message: /listed 0 of 20 devices of the profile pumps/ });
  devices.infos = async () => ({ data: [], hasNext: false, totalElements: 0, totalPages: 0 });
  t.like(await rig.run(), { end: "unproven", all: 0, passed: 0 });
  t.is(await rig.profilePackage(), undefined);
  t.is(began(rig, "2.0.0"), 0);
});

test("the profile keeps its package if no device passed", async (t) => {
  const rig = await startRig(t);
  t.like(await rig.run(), { end: "unproven", all: 0, passed: 0 });

  const one = rig.add("pump-1");
  const stages = parseStages("100%");
  const deleted = await rig.run({ stages }, async () => {
    if (rig.waits === 2) await rig.operator.devices.delete(one.device.id);
  });
  rig.fleet.length = 0;
  t.like(deleted, { end: "unproven", all: 0, passed: 0 });
  t.deepEqual(deleted.excluded, [{ device: "pump-1", why: "deleted from the platform" }]);

  rig.add("pump-2", "fails");
  const failed = await rig.run({ stages, stopAt: 2 });
  t.like(failed, { end: "unproven", all: 1, passed: 0 });
  t.is(await rig.profilePackage(), undefined);
});

test("a device moved to another profile during a stage is left out by name", async (t) => {
  const rig = await startRig(t, 20);
  const other = await rig.operator.profiles.save({ name: "valves" });
  const { all } = (await rig.rollout()).members;
  const moved = all[10]!;
  const outcome = await rig.run({}, async () => {
    if (rig.waits !== 2) return;
    const device = await rig.operator.devices.get(moved.id);
    await rig.operator.devices.save({ ...device, deviceProfileId: other.id });
  });
  t.like(outcome, { end: "done", isProfiles: true, all: 19, passed: 19 });
  t.deepEqual(outcome.excluded, [{ device: moved.name, why: "moved to another profile" }]);
});

for (const [when, isDue] of [
  ["between two stages", (rig: Rig) => rig.said.includes("stage 1 is over")],
  ["after the last assignment", (rig: Rig) => began(rig, "2.0.0") === 20],
] as const)
  test(`--undo gives the profile the package that it had last, changed ${when}`, async (t) => {
    const rig = await startRig(t, 20);
    const first = await rig.release("1.5.0");
    const second = await rig.release("1.6.0");
    await rig.operator.ota.assignToProfile(rig.profile.id.id, first.packageId);
    await rig.clock.advance(10 * MINUTE);
    let changed = false;
    const outcome = await rig.run({}, async () => {
      if (changed || !isDue(rig)) return;
      changed = true;
      await rig.operator.ota.assignToProfile(rig.profile.id.id, second.packageId);
    });
    t.true(changed);
    t.like(outcome, { end: "done", isProfiles: true, passed: 20 });
    t.like(await rig.undo(), { devices: 20, failed: [] });
    t.is(await rig.profilePackage(), second.packageId);
    await rig.clock.advance(10 * MINUTE);
    t.true(rig.fleet.every(({ version }) => version === "1.6.0"));
  });

/**
 * Rolls 2.0.0 out, takes it from the profile and deletes it: the way to a rebuilt image of the same
 * version.
 */
async function rolledOutAndDeleted(t: ExecutionContext): Promise<Rig> {
  const rig = await startRig(t, 3);
  t.like(await rig.run(), { end: "done", passed: 3 });
  await rig.operator.ota.assignToProfile(rig.profile.id.id, undefined);
  await rig.clock.advance(MINUTE);
  await rig.operator.ota.delete(rig.target.packageId);
  return rig;
}

test("a rebuilt image of the same version passes on devices that run its bytes", async (t) => {
  const rig = await rolledOutAndDeleted(t);
  const target = await rig.release("2.0.0", "rebuilt");
  t.like(await rig.run({ target }), { end: "done", isProfiles: true, passed: 3 });
  t.is(began(rig, "2.0.0"), 3);
  t.true(rig.fleet.every((one) => one.began.length === 2));
});

test("devices that report another image of the same version as updated prove nothing", async (t) => {
  const rig = await rolledOutAndDeleted(t);
  for (const one of rig.fleet) one.fate = "trusts versions";
  const target = await rig.release("2.0.0", "rebuilt");
  t.like(await rig.run({ target }), { end: "timeout", stage: 1, passed: 0 });
  t.is(await rig.profilePackage(), undefined);
});

test("a flashed device that knows no checksum is listed, and proves nothing", async (t) => {
  const rig = await rolledOutAndDeleted(t);
  for (const one of rig.fleet) one.fate = "flashed";
  const target = await rig.release("2.0.0", "rebuilt");
  const outcome = await rig.run({ target });
  t.like(outcome, { end: "unproven", passed: 0 });
  t.is(await rig.profilePackage(), undefined);
  t.is(rig.said.filter((line) => line.includes("knows no checksum")).length, 3);

  // With another device as evidence, the rollout completes without them.
  const good = rig.add("pump-good");
  await rig.clock.advance(MINUTE);
  t.like(await rig.run({ target }), { end: "done", isProfiles: true, passed: 1 });
  t.is(good.version, "2.0.0");
});

test("a report of UPDATED from before the assignment proves nothing, however late it arrives", async (t) => {
  const rig = await startRig(t, 3);
  const assignedAt = (): number => Math.max(...rig.fleet.map(({ device }) => updatedAt(device)));
  const updatedAt = ({ attributes }: ScriptedDevice["device"]): number =>
    attributes.get("SHARED_SCOPE", "fw_version")?.ts ?? 0;
  const { device } = rig.named(await firstOf(rig));
  for (const one of rig.fleet) one.fate = "off";
  const late = (ts: number): void => {
    const image = { current_fw_title: "pump", current_fw_version: "2.0.0" };
    const values = { ...image, current_fw_checksum: rig.target.checksum ?? "", fw_state: "UPDATED" };
    device.lastActivityTime = rig.platform.core.clock.now();
    rig.platform.core.receiveTelemetry(device, ts, Object.entries(values));
  };
  // In the platform's series, only a report without a newer one before it becomes the latest.
  const outcome = await rig.run({ stages: parseStages("1") }, () => {
    device.series.delete("fw_state");
    if (assignedAt() > 0) late(assignedAt() - 1);
  });
  t.like(outcome, { end: "timeout", passed: 0 });
  t.deepEqual(outcome.end === "timeout" && outcome.devices.map(({ why }) => why), [
    "updated before it was assigned, by its own clock",
  ]);
  const after = await rig.run({ stages: parseStages("1") }, () => late(assignedAt() + MINUTE));
  t.like(after, { end: "done", passed: 1 });
});

for (const hours of [-5, 5])
  test(`the operator's clock, ${hours} h wrong, decides nothing`, async (t) => {
    const rig = await startRig(t, 5);
    const { now } = rig.platform.core.clock;
    const wait = async (ms: number): Promise<void> => void (await rig.clock.advance(Math.max(ms, 20_000)));
    const clock = { now: () => now() + hours * 60 * MINUTE, wait };
    t.like(await rig.run({ clock }), { end: "done", isProfiles: true, passed: 5 });
  });
