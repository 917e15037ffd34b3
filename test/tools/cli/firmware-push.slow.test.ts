// `mote firmware push`, in a process of its own, against a local platform with devices played by hand.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { judge } from "../../../tools/cli/operator/updates.js";
import { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { killAll, mote, type Result } from "./commands.js";

let platform: Platform;
let operator: Operator;
let home: string;
const image = Buffer.alloc(200_000, "mote");

test.before(async () => {
  home = mkdtempSync(join(tmpdir(), "mote-push-"));
  writeFileSync(join(home, "image.bin"), image);
  platform = await startPlatform({ port: 0 });
  operator = new Operator({ url: platform.url });
  await operator.login("tenant@thingsboard.org", "tenant");
});
test.after.always(async () => {
  killAll();
  await platform.close();
  rmSync(home, { recursive: true, force: true });
});

function push(...args: string[]): Promise<Result> {
  return mote(["firmware", "push", join(home, "image.bin"), ...args], {
    MOTE_LOGIN: join(home, "none.json"),
    MOTE_PLATFORM_URL: platform.url,
    MOTE_PLATFORM_USERNAME: "tenant@thingsboard.org",
    MOTE_PLATFORM_PASSWORD: "tenant",
  });
}

async function made(name: string, deviceProfileId?: string): Promise<string> {
  const profile = deviceProfileId && {
    deviceProfileId: { entityType: "DEVICE_PROFILE", id: deviceProfileId },
  };
  return (await operator.devices.create({ name, ...(profile || {}) }, `${name}-token`)).id.id;
}

/** Waits for the assignment, as a device does, and reports what it is asked to. */
async function plays(name: string, reports: Record<string, unknown>[]): Promise<void> {
  const base = `${platform.url}/api/v1/${name}-token`;
  for (;;) {
    const { shared } = (await (
      await fetch(`${base}/attributes?sharedKeys=fw_version,fw_checksum`)
    ).json()) as {
      shared?: Record<string, string>;
    };
    if (shared?.fw_version !== undefined) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  for (const values of reports)
    await fetch(`${base}/telemetry`, { method: "POST", body: JSON.stringify(values) });
}

test("an image is uploaded with its checksum, assigned, and followed until the device runs it", async (t) => {
  const id = await made("good");
  const playing = plays("good", [
    { fw_state: "DOWNLOADING", fw_progress: 50 },
    { fw_state: "UPDATED", current_fw_title: "pump", current_fw_version: "2.0.0" },
  ]);
  const { code, err } = await push("--title", "pump", "--version", "2.0.0", "--device", "good");
  await playing;
  t.is(code, 0, err);
  t.regex(err, /upload of 200000 bytes\n[\s\S]*good {2}UPDATED\nUpdated: 1 of 1\./);
  const [found] = (await operator.ota.list({ textSearch: "pump" })).data;
  t.is(found?.checksum, createHash("sha256").update(image).digest("hex"));
  t.is((await operator.devices.get(id)).firmwareId?.id, found?.id.id);
  const again = await push("--title", "pump", "--version", "2.0.0", "--device", "good");
  t.is(again.code, 0, again.err);
  t.regex(again.err, /on the platform already/);
});

test("an update that fails ends with exit code 4 and the device's reason, without control characters", async (t) => {
  await made("bad");
  const playing = plays("bad", [{ fw_state: "FAILED", fw_error: "checksum \u001b[2J wrong" }]);
  const { code, err, out } = await push("--title", "valve", "--version", "1", "--device", "bad", "--json");
  await playing;
  t.is(code, 4);
  t.regex(err, /FAILED: checksum \ufffd\[2J wrong/);
  t.like(JSON.parse(out), { 0: { device: "bad", state: "FAILED", end: "failed" } });
});

test("all devices of a profile are followed, but not those with an assignment of their own", async (t) => {
  const profile = await operator.profiles.save({ name: "pumps" });
  await made("pump-1", profile.id.id);
  await made("pump-2", profile.id.id);
  const own = await made("pump-3", profile.id.id);
  const other = await operator.ota.create({ title: "own", version: "1", deviceProfileId: profile.id.id });
  await operator.ota.upload(other.id.id, new Uint8Array(10));
  await operator.ota.assign(own, other.id.id);
  const done = { fw_state: "UPDATED", current_fw_title: "all", current_fw_version: "3.0" };
  const playing = Promise.all([plays("pump-1", [done]), plays("pump-2", [done])]);
  const { code, err } = await push("--title", "all", "--version", "3.0", "--profile", "pumps");
  await playing;
  t.is(code, 0, err);
  t.regex(err, /profile pumps \(2 devices/);
  t.regex(err, /Updated: 2 of 2\./);
  t.false(err.includes("pump-3"));
});

test("wrong usage, another image of the same version and a device that does not report are named", async (t) => {
  await made("quiet");
  t.is((await push("--title", "a", "--version", "1")).code, 2);
  t.is((await push("--title", "a", "--version", "1", "--device", "a", "--profile", "b")).code, 2);
  t.is((await push("--title", "a", "--version", "1", "--profile", "unknown")).code, 1);
  const late = await push("--title", "q", "--version", "1", "--device", "quiet", "--timeout", "1500ms");
  t.is(late.code, 4);
  t.regex(late.err, /still open 1/);
  writeFileSync(join(home, "other.bin"), "other");
  const other = await mote(
    ["firmware", "push", join(home, "other.bin"), "--title", "q", "--version", "1", "--device", "quiet"],
    {
      MOTE_LOGIN: join(home, "none.json"),
      MOTE_PLATFORM_URL: platform.url,
      MOTE_PLATFORM_USERNAME: "tenant@thingsboard.org",
      MOTE_PLATFORM_PASSWORD: "tenant",
    },
  );
  t.is(other.code, 1);
  t.regex(other.err, /another image as q 1/);
});

test("what a device reported before the assignment is not taken for its update", (t) => {
  const device = { id: "d", name: "d" };
  const wanted = { title: "pump", version: "2.0" };
  const at = (ts: number, value: unknown) => ({ ts, value });
  const old = { fw_state: at(1, "FAILED"), current_fw_title: at(1, "pump"), current_fw_version: at(1, 1) };
  t.like(judge(device, old, old, wanted), { state: "waiting", end: undefined });
  t.like(judge(device, old, { ...old, fw_state: at(2, "FAILED") }, wanted), {
    state: "FAILED",
    end: "failed",
  });
  const runs = { ...old, fw_state: at(2, "UPDATED"), current_fw_version: at(2, 2) };
  t.like(judge(device, old, runs, wanted), { state: "UPDATED", end: "updated" });
  t.like(judge(device, runs, runs, wanted), { state: "UPDATED", end: "updated" });
  t.is(judge(device, old, { ...old, fw_state: at(2, "UPDATED") }, wanted).end, undefined);
});
