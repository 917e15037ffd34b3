import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { operatorOf } from "../operator-of.js";
import { keepTicking } from "../scripted-device.js";
import { interrupt, killAll } from "./commands.js";
import { startRig } from "./operator-rig.js";

test.after.always(killAll);

test("adds, lists, shows and deletes devices; only devices token prints a token", async (t) => {
  const rig = await startRig(t);
  const { run, runs, operator } = rig;
  await run(["devices"]);
  await run(["devices", "nothere"]);
  await run(["devices", "add", "greenhouse-7", "--label", "by the door"]);
  await run(["devices", "add", "greenhouse-7"]);
  await run(["devices", "add", "greenhouse-8", "--profile", "none"]);
  const device = await operator.devices.byName("greenhouse-7");
  const { credentialsId } = await operator.devices.credentials(device?.id.id ?? "");
  const { out } = await run(["devices", "token", "greenhouse-7"]);
  t.is(out, `${credentialsId}\n`);
  const long = rig.device("a device whose name is longer than a terminal of forty columns");
  await long.get("attributes");
  for (const args of [["devices"], ["devices", "--json"], ["devices", "get", "greenhouse-7"]])
    await run(args, { COLUMNS: "40" });
  await run(["devices", "get", "greenhouse-7", "--json"]);
  await run(["devices", "get", "nothere"]);
  await run(["devices", "delete", "greenhouse-7"]);
  await run(["devices", "delete", "greenhouse-7", "--yes", "--json"]);
  await run(["devices", "delete", "--prefix", "a device", "--yes"]);
  await run(["devices", "delete", "--prefix", "a device", "--yes"]);
  t.is(rig.platform.core.devices.list().length, 0);
  t.snapshot(runs);
});

test("devices token --renew lets a device provision once more if the profile allows it", async (t) => {
  const rig = await startRig(t);
  const { run, runs, operator, platform } = rig;
  const provision = async (): Promise<unknown> => {
    const body = { deviceName: "pump-1", provisionDeviceKey: "checked", provisionDeviceSecret: "secret" };
    const answer = await fetch(`${platform.url}/api/v1/provision`, {
      method: "POST",
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  const profile = await operator.profiles.save({
    name: "pumps",
    provisionType: "CHECK_PRE_PROVISIONED_DEVICES",
    provisionDeviceKey: "checked",
    profileData: {
      provisionConfiguration: { type: "CHECK_PRE_PROVISIONED_DEVICES", provisionDeviceSecret: "secret" },
    },
  });
  await operator.devices.create({ name: "pump-1", deviceProfileId: profile.id }, "pump-1-token");
  await run(["devices", "token", "pump-1", "--renew"]);
  t.like(await provision(), { status: "SUCCESS", credentialsValue: "pump-1-token" });
  t.like(await provision(), { status: "FAILURE" });
  const { out, err } = await run(["devices", "token", "pump-1", "--renew"]);
  t.notRegex(out + err, /pump-1-token/);
  t.like(await provision(), { status: "SUCCESS", credentialsValue: "pump-1-token" });
  t.like(await provision(), { status: "FAILURE" });
  await run(["devices", "token", "pump-1", "--renew", "--json"]);
  rig.device("pump-2");
  await run(["devices", "token", "pump-2", "--renew"]);
  const creates = (await operator.profiles.list({ textSearch: "Mote" })).data[0];
  await operator.devices.create({ name: "pump-3", ...(creates && { deviceProfileId: creates.id }) });
  await run(["devices", "token", "pump-3", "--renew"]);
  await run(["devices", "token", "nothere", "--renew"]);
  t.snapshot(runs);
});

test("rpc reports answer, error, stored or unanswered, each with its exit code", async (t) => {
  const rig = await startRig(t);
  const { run, runs } = rig;
  const pump = rig.device("pump-1");
  const error = { error: { code: "METHOD_NOT_FOUND", message: "no handler for this method" } };
  const answered = pump.answer([{ on: true }, error, { error: "busy" }, { error: 1, more: 2 }, error]);
  for (const method of ["setLed", "nosuch", "busy", "notAnError"]) await run(["rpc", "pump-1", method]);
  const asked = ["rpc", "pump-1", "later", '{"n":1}', "--persistent", "--timeout", "20s"];
  await run(asked);
  await answered;
  await run([...asked, "--timeout", "1h", "--no-wait"]);
  await run(["rpc", "list", "pump-1"]);
  const { out } = await run(["rpc", "list", "pump-1", "--json"]);
  const waiting = JSON.parse(out).find(({ status }: { status: string }) => status === "QUEUED").rpcId;
  for (const args of [
    ["get", waiting],
    ["delete", waiting],
    ["delete", waiting, "--yes"],
    ["get", waiting],
  ])
    await run(["rpc", ...args]);
  await run(["rpc", "nothere", "setLed"]);
  t.snapshot(runs);
});

test("packages are listed, unassigned and deleted", async (t) => {
  const rig = await startRig(t);
  const { run, runs, operator, home } = rig;
  const { id } = rig.device("pump-1");
  await run(["firmware", "list"]);
  const file = join(home, "image.bin");
  writeFileSync(file, new Uint8Array(1_536_000));
  const push = ["firmware", "push", file, "--title", "pump", "--version", "2.0.0", "--device", "pump-1"];
  await run([...push, "--no-wait"]);
  await run(["firmware", "list"]);
  await run(["firmware", "list", "nothere"]);
  await run(["firmware", "list", "--json"]);
  await run(["firmware", "delete", "pump", "2.0.0", "--yes"]);
  await run(["firmware", "unassign", "--device", "pump-1"]);
  await run(["firmware", "unassign", "--device", "pump-1", "--yes"]);
  await run(["firmware", "unassign", "--device", "pump-1", "--yes"]);
  t.is((await operator.devices.get(id)).firmwareId ?? null, null);
  await run(["firmware", "delete", "pump", "3.0.0", "--yes"]);
  await run(["firmware", "delete", "pump", "2.0.0"]);
  await run(["firmware", "delete", "pump", "2.0.0", "--yes"]);
  t.snapshot(runs);
});

test("a rollout goes on stage by stage, stops at a device that fails, and is taken back", async (t) => {
  const rig = await startRig(t);
  const { run, runs, operator, home } = rig;
  const profile = await operator.profiles.save({ name: "pumps" });
  const options = {
    profileId: profile.id.id,
    fate: "good",
    updateMs: 100,
    failure: "wrong checksum",
  } as const;
  // In the order of the stages.
  const pumps = ["pump-1", "pump-4", "pump-2", "pump-3"].map((name) => rig.device(name, options));
  const file = join(home, "image.bin");
  writeFileSync(file, "image");
  const push = (version: string, ...more: string[]): string[] => [
    ...["firmware", "push", file, "--title", "pump", "--version", version, "--profile", "pumps"],
    ...["--stages", "1,2,100%", "--soak", "1s", ...more],
  ];
  for (const wrong of [["--stages", "1,1"], ["--no-wait"], ["--soak", "2h"]])
    await run(push("2.0.0", ...wrong));
  const whole = push("2.0.0").slice(0, -4);
  await run([...whole, "--replace"]);
  pumps[1]!.fate = "fails";
  keepTicking(rig.platform.core.clock, pumps, 100);
  await run(push("2.0.0"));
  await run(push("2.0.0", "--json"));
  await run(push("2.0.1"));
  const back = ["firmware", "push", "--title", "pump", "--version", "2.0.0", "--profile", "pumps", "--undo"];
  await run(back);
  await run([...back, "--yes"]);
  await run([...back, "--yes"]);
  pumps[1]!.fate = "good";
  await run(push("2.0.1"));
  t.snapshot(runs);
});

test("attributes and telemetry fit the terminal, and deleting asks", async (t) => {
  const rig = await startRig(t);
  const { run, runs } = rig;
  const pump = rig.device("pump-1");
  const serial = "A-113, which is a long serial number for a small pump";
  await pump.send("attributes", { serial, 漢字の鍵: "名前" });
  await pump.send("telemetry", {
    ts: 1_760_000_000_000,
    values: { temperature: 21.5, note: serial },
  });
  await run(["attributes", "get", "pump-1", "--scope", "client"], { COLUMNS: "80" });
  await run(["telemetry", "pump-1"], { COLUMNS: "80" });
  await run(["telemetry", "pump-1", "--json"]);
  await run(["attributes", "set", "pump-1", "interval=30", "--json"]);
  await run(["attributes", "delete", "pump-1", "interval"]);
  await run(["attributes", "delete", "pump-1", "interval", "--yes"]);
  t.snapshot(runs);
});

test("logs lists a device's requests without its token", async (t) => {
  const rig = await startRig(t);
  const { run, runs } = rig;
  const pump = rig.device("pump-1");
  await run(["logs"]);
  await pump.send("telemetry", { temperature: 21.5 });
  await pump.get("attributes?sharedKeys=interval");
  await rig.device("pump-2").send("attributes", { serial: "A-113" });
  await run(["logs", "pump-1"]);
  await run(["logs", "--limit", "1"]);
  const { out } = await run(["logs", "pump-1", "--json"]);
  t.notRegex(out, /pump-1-token/);
  await run(["logs", "nothere"]);
  t.snapshot(runs);
});

/** As a device answers `mote.log`. */
const KEPT = {
  build: "0123456789abcdef",
  uptime: 41.5,
  lines: [
    [3601.5, "warn", "the sensor \u001b[2Jis gone"],
    [0, "info", "start: panic"],
    [0, "error", "backtrace of fedcba9876543210: 0x42000004 0x4200000c"],
    [2.3, "info", "online"],
  ],
};

test("logs --device shows the device log and reports an unusable answer", async (t) => {
  const rig = await startRig(t);
  const { run, runs } = rig;
  const pump = rig.device("pump-1");
  const asked = async (answers: readonly unknown[], ...args: string[]): Promise<void> => {
    const answered = pump.answer(answers);
    await run(["logs", "pump-1", "--device", ...args]);
    await answered;
  };
  await asked([KEPT]);
  await asked([KEPT], "--limit", "1", "--json");
  await asked([{ ...KEPT, build: null, lines: [] }]);
  await asked([{ error: { code: "METHOD_NOT_FOUND", message: "" } }]);
  for (const wrong of [{ ...KEPT, lines: [[2, "info"]] }, { ...KEPT, uptime: -1 }, ["\u001b[2J"], 7])
    await asked([wrong]);
  await run(["logs", "nothere", "--device"]);
  await run(["logs", "--device"]);
  await run(["logs", "pump-1", "--device", "--follow"]);
  t.snapshot(runs);
});

test("a customer's login reaches the customer's devices, and is told what it lacks", async (t) => {
  const rig = await startRig(t);
  const { run, runs, platform, operator } = rig;
  const pump = rig.device("pump-1");
  rig.device("pump-2");
  const { id: image } = await operator.ota.create({
    ...{ title: "pump", version: "2.0.0" },
    deviceProfileId: (await operator.devices.get(pump.id)).deviceProfileId?.id ?? "",
  });
  await operator.ota.upload(image.id, Buffer.from("image"));
  await operator.ota.assign(pump.id, image.id);
  await pump.send("claim", { secretKey: "s" });
  const customer = await operatorOf(platform, "customer");
  await customer.devices.claim("pump-1", "s");
  const as = (name: string): Promise<unknown> => {
    const args = ["login", "--url", platform.url, "--username", `${name}@thingsboard.org`];
    return run(args, { MOTE_PLATFORM_PASSWORD: name });
  };
  await as("customer");
  for (const args of [
    ["devices"],
    ["devices", "get", "pump-1"],
    ["devices", "get", "pump-2"],
    ["attributes", "set", "pump-1", "interval=5"],
    ["attributes", "get", "pump-1", "interval"],
    ["devices", "add", "pump-3"],
  ])
    await run(args);
  await as("sysadmin");
  await run(["devices"]);
  t.snapshot(runs);
});

test("without a platform each command says so, and ends", async (t) => {
  const rig = await startRig(t);
  await rig.platform.close();
  for (const args of [["devices"], ["rpc", "pump-1", "x"], ["telemetry", "pump-1"], ["logs"]])
    await rig.run(args);
  t.snapshot(rig.runs);
});

test("Ctrl-C ends a command with 130, and says that what was sent stays", async (t) => {
  const rig = await startRig(t);
  const fetched = rig
    .device("pump-1")
    .answer([undefined])
    .then(() => true);
  const { code, err } = await interrupt(["rpc", "pump-1", "slow"], rig.env, () => fetched);
  t.deepEqual([code, err], [130, "interrupted; what is done so far stays\n"]);
});
