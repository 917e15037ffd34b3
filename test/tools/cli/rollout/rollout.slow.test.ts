// Rollouts by stages, over the REST of a local platform, with played devices in virtual time.
import test from "ava";
import { parseStages } from "../../../../tools/cli/rollout/stages.js";
import { OperatorError } from "../../../../tools/operator/error.js";
import { began, firstOf, MINUTE, startRig } from "./rig.js";

test("ignores earlier reports; a failed device that updates later passes at the next call", async (t) => {
  const rig = await startRig(t, 3);
  // An old failure with a time stamp to come: the device's clock is ahead, and the platform's own
  // QUEUED is the older one.
  const { core } = rig.platform;
  const ahead = core.clock.now() + 24 * 60 * MINUTE;
  const [one] = rig.fleet;
  core.receiveTelemetry(one!.device, ahead, [
    ["fw_state", "FAILED"],
    ["fw_error", "of last year"],
  ]);
  const stages = parseStages("100%");
  one!.fate = "off";
  t.like(await rig.run({ stages }), { end: "timeout", passed: 2 });
  await rig.undo();

  const other = await rig.release("3.0.0");
  const second = rig.fleet[1]!;
  second.fate = "second try";
  t.like(await rig.run({ target: other, stages }), { end: "failed" });
  await rig.clock.advance(2 * MINUTE);
  t.is(second.version, "3.0.0");
  t.like(await rig.run({ target: other, stages }), { end: "timeout", passed: 2 });
});

test("names and awaits an offline device until the timeout, or leaves it behind", async (t) => {
  const rig = await startRig(t, 20);
  const [, second, third] = (await rig.rollout()).members.all.map(({ name }) => rig.named(name));
  second!.fate = "off";
  await rig.clock.advance(11 * MINUTE);
  const outcome = await rig.run();
  t.like(outcome, { end: "timeout", stage: 2, assigned: 2, passed: 1 });
  t.deepEqual(outcome.end === "timeout" && outcome.devices, [
    { device: second!.device.name, why: "offline" },
  ]);
  t.deepEqual(
    rig.said.filter((line) => line.includes("offline")),
    [`${second!.device.name} is offline`],
  );
  // It is back in the middle of the next call.
  const from = rig.clock.now();
  const back = (): void => {
    if (rig.clock.now() - from > 30 * MINUTE) second!.fate = "good";
    if (rig.clock.now() - from > 35 * MINUTE) third!.fate = "off";
  };
  const left = await rig.run({ leaveOffline: true }, back);
  t.like(left, { end: "done", isProfiles: true, assigned: 20, passed: 19 });
  t.deepEqual(left.left, [third!.device.name]);
});

test("leaves no device behind before another has shown the image to be good", async (t) => {
  const rig = await startRig(t, 20);
  rig.named(await firstOf(rig)).fate = "off";
  await rig.clock.advance(11 * MINUTE);
  t.like(await rig.run({ leaveOffline: true }), { end: "timeout", stage: 1, assigned: 1 });
});

test("a device silent after its update does not pass; its soak restarts when it returns", async (t) => {
  const rig = await startRig(t, 20);
  const one = rig.named(await firstOf(rig));
  one.fate = "falls silent";
  t.like(await rig.run(), { end: "timeout", stage: 1, assigned: 1, passed: 0 });
  one.fate = "good";
  const from = rig.clock.now();
  let passedAfter = 0;
  const outcome = await rig.run({ stages: parseStages("1") }, () => {
    passedAfter = rig.clock.now() - from;
  });
  t.like(outcome, { end: "done", isProfiles: false, assigned: 1 });
  t.true(passedAfter > 9 * MINUTE, `${passedAfter} ms`);

  // Away while nobody looked: a real server notes when it became inactive.
  const other = rig.fleet.find(({ device }) => device.name !== one.device.name)!;
  const wanted = await rig.release("3.0.0");
  const stages = parseStages("100%");
  await t.throwsAsync(
    rig.run({ target: wanted, stages, replace: true } as object, () => {
      if (rig.fleet.every(({ version }) => version === "3.0.0")) throw new Error("Ctrl-C");
    }),
    { message: "Ctrl-C" },
  );
  await rig.clock.advance(5 * MINUTE);
  const at = rig.platform.core.clock.now();
  rig.platform.core.saveAttributes(other.device, "SERVER_SCOPE", [["inactivityAlarmTime", BigInt(at)]]);
  await rig.clock.advance(6 * MINUTE);
  const before = rig.clock.now();
  t.like(await rig.run({ target: wanted, stages }), { end: "done", passed: 20 });
  t.true(rig.clock.now() - before > 9 * MINUTE);
});

test("a device that sleeps over ten minutes passes with its own inactivityTimeout", async (t) => {
  const rig = await startRig(t);
  const one = rig.add("pump-1", "sleeps");
  const wanted = { stages: parseStages("1"), timeoutMs: 120 * MINUTE };
  t.like(await rig.run(wanted), { end: "timeout", assigned: 1 });
  await rig.operator.attributes.set(one.device.id, "SERVER_SCOPE", { inactivityTimeout: 30 * MINUTE });
  t.like(await rig.run(wanted), { end: "done", passed: 1 });
});

test("a repeated call resumes: nothing is assigned twice and no soak restarts", async (t) => {
  const rig = await startRig(t, 30);
  const from = rig.clock.now();
  let calls = 0;
  for (;;) {
    const killed = (): void => {
      if (rig.waits > 3) throw new Error("Ctrl-C");
    };
    calls++;
    const outcome = await rig.run({}, killed).catch(() => undefined);
    if (outcome) {
      t.like(outcome, { end: "done", isProfiles: true, passed: 30 });
      break;
    }
    t.true(calls < 100);
  }
  t.true(calls > 10);
  t.true(rig.clock.now() - from < 40 * MINUTE, "no soak began again");
  t.true(rig.fleet.every(({ began: versions }) => versions.length === 1));
});

test("two operators with the same command assign each device once, and both succeed", async (t) => {
  const rig = await startRig(t, 30);
  const waiting: (() => void)[] = [];
  const wait = (): Promise<void> => new Promise((resume) => void waiting.push(resume));
  const clock = { now: () => rig.platform.core.clock.now(), wait };
  const both = [rig.run({ clock }), rig.run({ clock })];
  let over = 0;
  for (const one of both) void one.finally(() => over++);
  while (over < 2) {
    await new Promise((resume) => setTimeout(resume, 1));
    if (waiting.length + over < 2) continue;
    await rig.clock.advance(20_000);
    for (const resume of waiting.splice(0)) resume();
  }
  for (const one of both) t.like(await one, { end: "done", isProfiles: true, passed: 30 });
  t.true(rig.fleet.every(({ began: versions }) => versions.length === 1));
  await rig.undo();
  t.deepEqual(new Set(Object.values(await rig.assigned())), new Set(["profile"]));
});

test("stops, with the reason, when another rollout or --undo takes over", async (t) => {
  const rig = await startRig(t, 30);
  const next = await rig.release("3.0.0");
  const outcome = await rig.run({}, async () => {
    if (rig.waits !== 3) return;
    const first = await firstOf(rig);
    const other = await rig.rollout({ target: next, stages: parseStages("1") });
    t.like(other.members.other, { record: { version: "2.0.0" }, devices: [first] });
    await other.run();
  });
  const name = await firstOf(rig);
  t.like(outcome, { end: "overtaken", stage: 1 });
  t.deepEqual(outcome.end === "overtaken" && outcome.devices, [{ device: name, why: "pump 3.0.0" }]);
  t.is(began(rig, "2.0.0"), 1);

  const undone = await rig.run({ target: next }, async () => {
    if (rig.waits === 3) await rig.undo(next);
  });
  t.like(undone, { end: "overtaken" });
  t.deepEqual(undone.end === "overtaken" && undone.devices[0]?.why, "taken back");
});

test("--undo gives each device what it had: its profile's image, its own, or none", async (t) => {
  const rig = await startRig(t, 12);
  const old = await rig.release("1.5.0");
  const special = await rig.release("1.6.0");
  await rig.operator.ota.assignToProfile(rig.profile.id.id, old.packageId);
  await rig.clock.advance(10 * MINUTE);
  // The first three have 1.6.0 of their own, from a rollout that went no further; another has it by
  // hand, and takes no part.
  t.like(await rig.run({ target: special, stages: parseStages("3") }), { end: "done", assigned: 3 });
  const pinned = rig.add("pinned");
  await rig.operator.ota.assign(pinned.device.id, special.packageId);
  const before = await rig.assigned();
  t.like(await rig.run(), { end: "done", isProfiles: true, passed: 12, pinned: ["pinned"] });
  t.true(rig.fleet.every(({ version }) => version === (version === "1.6.0" ? "1.6.0" : "2.0.0")));
  t.is(pinned.version, "1.6.0");

  t.like(await rig.undo(), { devices: 12, stay: [], profile: "restored", changed: [], failed: [] });
  t.deepEqual(await rig.assigned(), before);
  t.is(await rig.profilePackage(), old.packageId);
  await rig.clock.advance(10 * MINUTE);
  t.deepEqual(
    rig.fleet.map(({ version }) => version).sort(),
    [...Array(9).fill("1.5.0"), ...Array(4).fill("1.6.0")].sort(),
  );
  for (const { device } of rig.fleet) t.is(await rig.record(device.name), undefined);
  t.deepEqual(await rig.undo(), {
    ...{ devices: 0, stay: [], profile: "unchanged" },
    ...{ changed: [], failed: [] },
  });
});

test("--undo of an unfinished rollout skips devices without the image or changed since", async (t) => {
  const rig = await startRig(t, 30);
  const other = await rig.release("9.0.0");
  const { all } = (await rig.rollout()).members;
  rig.named(all[1]?.name ?? "").fate = "fails";
  t.like(await rig.run(), { end: "failed", stage: 2, assigned: 3 });
  await rig.operator.ota.assign(all[2]?.id ?? "", other.packageId);
  const undone = await rig.undo();
  t.like(undone, { devices: 2, changed: [all[2]?.name], failed: [] });
  t.deepEqual(undone.stay, [all[0]?.name]);
  const after = await rig.assigned();
  t.is(after[all[2]?.name ?? ""], "9.0.0");
  t.is(Object.values(after).filter((version) => version === "profile").length, 29);
});

test("leaves out a device that is deleted or reassigned during a stage", async (t) => {
  const rig = await startRig(t, 20);
  const other = await rig.release("9.0.0");
  const { all } = (await rig.rollout()).members;
  const outcome = await rig.run({}, async () => {
    if (rig.waits === 2) await rig.operator.devices.delete(all[0]?.id ?? "");
    if (rig.waits === 3) await rig.operator.ota.assign(all[10]?.id ?? "", other.packageId);
  });
  t.like(outcome, { end: "done", all: 18, passed: 18, pinned: [all[10]?.name] });
  t.true(rig.said.some((line) => line.includes(`${all[0]?.name} was deleted from the platform`)));
});

test("waits minutes for an unreachable platform, not for one that refuses", async (t) => {
  const rig = await startRig(t, 10);
  const away = rig.operator.entities.devices.bind(rig.operator.entities);
  rig.operator.entities.devices = async (query) => {
    if (rig.waits > 1 && rig.waits < 12) throw new OperatorError(0, "no answer");
    return away(query);
  };
  t.like(await rig.run(), { end: "done", passed: 10 });
  rig.operator.logout();
  await t.throwsAsync(rig.run(), { name: "OperatorError" });
});
