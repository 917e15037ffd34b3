// The operator's commands, in processes of their own, against a local platform with a device played by hand.

import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import test from "ava";
import { isSignedBy, toPublicKey, toSignature } from "../../../src/wire/crypto/p256.js";
import { judge } from "../../../tools/cli/operator/updates.js";
import { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { temporaryState } from "../run/session.js";
import { killAll, launch, mote, type Result } from "./commands.js";

const PASSWORD = { MOTE_PLATFORM_PASSWORD: "tenant" };
const USER = "tenant@thingsboard.org";
let platform: Platform;
let operator: Operator;
let home: string;
let login: string;
const image = Buffer.alloc(200_000, "mote");

test.before(async () => {
  home = mkdtempSync(join(tmpdir(), "mote-operator-"));
  login = join(home, "config", "login.json");
  writeFileSync(join(home, "image.bin"), image);
  platform = await startPlatform({ port: 0 });
  operator = new Operator({ url: platform.url });
  await operator.login(USER, "tenant");
  const { code } = await as(["login", "--url", platform.url, "--username", USER], PASSWORD);
  if (code !== 0) throw new Error("the login failed");
});
test.after.always(async () => {
  killAll();
  await platform.close();
  rmSync(home, { recursive: true, force: true });
});

function as(args: string[], env: Record<string, string> = {}): Promise<Result> {
  return mote(args, { MOTE_LOGIN: login, ...env });
}

async function device(token: string, method: string, path: string, body?: unknown): Promise<string> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  return (await fetch(`${platform.url}/api/v1/${token}/${path}`, init)).text();
}

async function made(name: string): Promise<string> {
  return (await operator.devices.create({ name }, `${name}-token`)).id.id;
}

test("login --password-stdin takes the first line of standard input", async (t) => {
  const own = join(home, "stdin.json");
  const args = ["login", "--url", platform.url, "--username", USER, "--password-stdin"];
  const logIn = (input: string): Promise<Result> => mote(args, { MOTE_LOGIN: own }, input);
  const refused = await logIn("wrong\ntenant\n");
  t.is(refused.code, 3, refused.err);
  const missing = await logIn("\n");
  t.is(missing.code, 2);
  t.regex(missing.err, /missing password/);
  const taken = await logIn("tenant\r\nmore\n");
  t.is(taken.code, 0, taken.err);
});

test("a login is kept for the user alone, without the password", (t) => {
  t.is(statSync(login).mode & 0o777, 0o600);
  t.is(statSync(join(home, "config")).mode & 0o777, 0o700);
  const kept = JSON.parse(readFileSync(login, "utf8"));
  t.deepEqual(Object.keys(kept), ["format", "url", "username", "token", "refreshToken"]);
});

test("distinguishes refused login, wrong server and missing login by message and exit code", async (t) => {
  const refused = await as(["login", "--url", platform.url, "--username", USER], {
    MOTE_PLATFORM_PASSWORD: "hunter2",
  });
  t.is(refused.code, 3);
  t.regex(refused.err, /refused the login/);
  t.false(refused.err.includes("hunter2"));
  const page = createServer((_, response) => response.end("<html>Welcome</html>"));
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  t.teardown(() => page.close());
  const { port } = page.address() as AddressInfo;
  const other = await as(["login", "--url", `http://127.0.0.1:${port}`, "--username", USER], PASSWORD);
  t.is(other.code, 1);
  t.regex(other.err, /is not a ThingsBoard platform/);
  const none = await mote(["devices"], { MOTE_LOGIN: join(home, "none.json") });
  t.is(none.code, 2);
  t.regex(none.err, /not logged in \(log in: mote login/);
  const elsewhere = await as(["devices", "--url", "http://127.0.0.1:9"]);
  t.is(elsewhere.code, 2);
  t.regex(elsewhere.err, /not logged in at http:\/\/127\.0\.0\.1:9/);
});

test("what is no URL is reported before a password is asked for", async (t) => {
  const { code, err } = await as(["login", "--url", "nonsense", "--username", USER]);
  t.is(code, 2);
  t.regex(err, /invalid URL "nonsense"/);
});

test("a session that ended is renewed and kept, and one that can't be asks for a login", async (t) => {
  const own = join(home, "old.json");
  const kept = JSON.parse(readFileSync(login, "utf8"));
  writeFileSync(own, JSON.stringify({ ...kept, token: "a.b.c" }), { mode: 0o600 });
  t.is((await mote(["devices", "--json"], { MOTE_LOGIN: own })).code, 0);
  t.not(JSON.parse(readFileSync(own, "utf8")).token, "a.b.c");
  writeFileSync(own, JSON.stringify({ ...kept, token: "a.b.c", refreshToken: "d.e.f" }), { mode: 0o600 });
  const ended = await mote(["devices"], { MOTE_LOGIN: own });
  t.is(ended.code, 3);
  t.regex(ended.err, /log in again: mote login/);
  t.false(ended.err.includes("d.e.f"));
  t.is((await mote(["logout"], { MOTE_LOGIN: own })).code, 0);
  t.is((await mote(["devices"], { MOTE_LOGIN: own })).code, 2);
});

test("a key with a comma is shown with the latest, and no key or value drives the terminal", async (t) => {
  await made("keys-1");
  const keys = { "a,b": 7, "\u001b]0;owned\u0007": "\u009b2J\u202e", plain: 1 };
  await device("keys-1-token", "POST", "telemetry", keys);
  t.regex((await as(["telemetry", "keys-1"])).out, /^a,b +7 /m);
  const range = await as(["telemetry", "keys-1", "--from", "-1h"]);
  t.regex(range.out, /^TIME +\ufffd\]0;owned\ufffd +plain\n/);
  t.regex(range.err, /Skipped keys with commas: a,b/);
  const { out } = await as(["telemetry", "keys-1", "--json"]);
  t.notRegex(out, /[\u007f-\u009f\u202e]/);
  t.is(JSON.parse(out)["\u001b]0;owned\u0007"].value, "\u009b2J\u202e");
});

test("shows telemetry as latest values and as a range over uneven pages", async (t) => {
  await made("telemetry-1");
  const t0 = 1_760_000_000_000;
  const points = Array.from({ length: 2_500 }, (_, n) => ({
    ts: t0 + n * 1000,
    values: n % 2 === 0 ? { even: n, note: n === 0 ? "=1+1" : "x" } : { odd: -n },
  }));
  for (let at = 0; at < points.length; at += 500)
    await device("telemetry-1-token", "POST", "telemetry", points.slice(at, at + 500));
  t.regex((await as(["telemetry", "telemetry-1"])).out, /^even +2498 +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/m);
  const range = ["--from", String(t0), "--to", String(t0 + 2_400_000)];
  const rows = JSON.parse((await as(["telemetry", "telemetry-1", "even", "odd", ...range, "--json"])).out);
  t.is(rows.length, 2_401);
  t.deepEqual(
    rows.map(({ ts }: { ts: number }) => (ts - t0) / 1000),
    Array.from({ length: 2_401 }, (_, n) => n),
  );
  const { out } = await as(["telemetry", "telemetry-1", "even", "odd", "note", "--format", "csv", ...range]);
  t.deepEqual(out.split("\r\n").slice(0, 3), ["ts,even,odd,note", `${t0},0,,"'=1+1"`, `${t0 + 1000},,-1,`]);
  const none = await as(["telemetry", "telemetry-1", "--from", "2020-01-01", "--to", "2020-01-02"]);
  t.regex(none.err, /No telemetry in this range/);
  t.is((await as(["telemetry", "telemetry-1", "--from", "2020-02-30"])).code, 2);
  t.is((await as(["telemetry", "telemetry-1", "--from", "now", "--to", "-1h"])).code, 2);
});

/** `mote watch` of a device: its lines one by one, and the process. */
function watch(name: string, ...more: string[]) {
  const child = launch(["watch", name, "--json", "--interval", "50ms", ...more], { MOTE_LOGIN: login });
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  return { child, next: async () => JSON.parse((await lines.next()).value) };
}

test("watch shows each change once, as it comes", async (t) => {
  const id = await made("watch-1");
  await device("watch-1-token", "POST", "telemetry", { ts: 1_760_000_000_000, values: { a: 1 } });
  const { child, next } = watch("watch-1");
  t.deepEqual(await next(), { ts: 1_760_000_000_000, kind: "telemetry", key: "a", value: 1 });
  t.like(await next(), { kind: "server", key: "active", value: true });
  await operator.attributes.set(id, "SHARED_SCOPE", { mode: "night" });
  t.like(await next(), { kind: "shared", key: "mode", value: "night" });
  await device("watch-1-token", "POST", "telemetry", { ts: 1_760_000_001_000, values: { a: 1 } });
  t.deepEqual(await next(), { ts: 1_760_000_001_000, kind: "telemetry", key: "a", value: 1 });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  t.is(await ended, 0);
});

test("watch --key shows telemetry and attributes of these keys only", async (t) => {
  const id = await made("watch-2");
  await device("watch-2-token", "POST", "telemetry", { ts: 1_760_000_000_000, values: { a: 1, b: 2 } });
  await operator.attributes.set(id, "SHARED_SCOPE", { mode: "night", other: 1 });
  const { child, next } = watch("watch-2", "--key", "a", "mode");
  t.like(await next(), { kind: "telemetry", key: "a", value: 1 });
  t.like(await next(), { kind: "shared", key: "mode", value: "night" });
  await device("watch-2-token", "POST", "telemetry", { ts: 1_760_000_001_000, values: { a: 3, b: 4 } });
  t.like(await next(), { kind: "telemetry", key: "a", value: 3 });
  child.kill("SIGINT");
});

test("devices get names the state of an update, with the exact state in --json", async (t) => {
  await made("updated-1");
  const fw_error = "the new image did not start (task watchdog)";
  await device("updated-1-token", "POST", "telemetry", { fw_state: "FAILED", fw_error });
  const { out } = await as(["devices", "get", "updated-1"]);
  t.regex(out, /^last update +rolled back: the new image did not start \(task watchdog\)$/m);
  const { firmware } = JSON.parse((await as(["devices", "get", "updated-1", "--json"])).out);
  t.like(firmware, { state: "FAILED", error: fw_error });
});

// `mote firmware push`, in a process of its own, against a local platform with devices played by hand.

const push = (...args: string[]): Promise<Result> =>
  as(["firmware", "push", join(home, "image.bin"), ...args]);

async function ofProfile(name: string, profileId: string): Promise<string> {
  const deviceProfileId = { entityType: "DEVICE_PROFILE", id: profileId };
  return (await operator.devices.create({ name, deviceProfileId }, `${name}-token`)).id.id;
}

/** Waits for the assignment, as a device does, and reports what it is asked to. */
async function plays(name: string, reports: Record<string, unknown>[]): Promise<void> {
  while ((await device(`${name}-token`, "GET", "attributes?sharedKeys=fw_version")) === "{}")
    await new Promise((resolve) => setTimeout(resolve, 20));
  for (const values of reports) await device(`${name}-token`, "POST", "telemetry", values);
}

test("firmware push uploads, assigns and follows until the device runs the image", async (t) => {
  const id = await made("good");
  const playing = plays("good", [
    { fw_state: "DOWNLOADING", fw_progress: 50 },
    { fw_state: "UPDATED", current_fw_title: "pump", current_fw_version: "2.0.0" },
  ]);
  const { code, err } = await push("--title", "pump", "--version", "2.0.0", "--device", "good");
  await playing;
  t.is(code, 0, err);
  t.regex(err, /upload of 200000 bytes\n[\s\S]*good {2}confirmed\nUpdated: 1 of 1\./);
  const [found] = (await operator.ota.list({ textSearch: "pump" })).data;
  t.is(found?.checksum, createHash("sha256").update(image).digest("hex"));
  t.is((await operator.devices.get(id)).firmwareId?.id, found?.id.id);
  const again = await push("--title", "pump", "--version", "2.0.0", "--device", "good");
  t.is(again.code, 0, again.err);
  t.regex(again.err, /already on the platform/);
});

test("a failed update exits with 4 and prints the reason without control characters", async (t) => {
  await made("bad");
  const playing = plays("bad", [{ fw_state: "FAILED", fw_error: "checksum \u001b[2J wrong" }]);
  const { code, err, out } = await push("--title", "valve", "--version", "1", "--device", "bad", "--json");
  await playing;
  t.is(code, 4);
  t.regex(err, /failed: checksum \ufffd\[2J wrong/);
  t.like(JSON.parse(out), { 0: { device: "bad", state: "FAILED", end: "failed" } });
});

test("all devices of a profile are followed, but not those with an assignment of their own", async (t) => {
  const profile = await operator.profiles.save({ name: "pumps" });
  await ofProfile("pump-1", profile.id.id);
  await ofProfile("pump-2", profile.id.id);
  const own = await ofProfile("pump-3", profile.id.id);
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

test("firmware push reports wrong usage, a version conflict and a silent device", async (t) => {
  await made("quiet");
  t.is((await push("--title", "a", "--version", "1")).code, 2);
  t.is((await push("--title", "a", "--version", "1", "--device", "a", "--profile", "b")).code, 2);
  t.is((await push("--title", "a", "--version", "1", "--profile", "unknown")).code, 4);
  const late = await push("--title", "q", "--version", "1", "--device", "quiet", "--timeout", "1500ms");
  t.is(late.code, 4);
  t.regex(late.err, /still running 1/);
  writeFileSync(join(home, "other.bin"), "other");
  const same = ["--title", "q", "--version", "1", "--device", "quiet"];
  const other = await as(["firmware", "push", join(home, "other.bin"), ...same]);
  t.is(other.code, 1);
  t.regex(other.err, /different image as q 1/);
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

// `mote sign`, against openssl where there is one.

const IMAGE = Buffer.from("an image");
const rest = (): Promise<void> => Promise.resolve();

async function holds(key: string, signature: string): Promise<boolean> {
  const [point, pair] = [toPublicKey(key), toSignature(signature)];
  const digest = createHash("sha256").update(IMAGE).digest("hex");
  return point !== undefined && pair !== undefined && isSignedBy(point, digest, pair, rest);
}

function files(t: Parameters<typeof temporaryState>[0], namedCurve = "P-256"): { key: string; file: string } {
  const directory = temporaryState(t);
  const [key, file] = [join(directory, "key.pem"), join(directory, "image.bin")];
  const { privateKey } = generateKeyPairSync("ec", { namedCurve });
  writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(file, IMAGE);
  return { key, file };
}

test.serial("sign prints the attribute and the key, which a device accepts", async (t) => {
  const { key, file } = files(t);
  const { code, out } = await mote(["sign", "--key", key, file]);
  t.is(code, 0);
  const [, signature = "", publicKey = ""] =
    /^fw_signature ([0-9a-f]+)\npublicKey {4}([0-9a-f]+)\n$/.exec(out) ?? [];
  t.true(await holds(publicKey, signature));
});

test.serial("the lines of its help do the same by openssl alone", async (t) => {
  if (spawnSync("openssl", ["version"]).status !== 0) return t.pass();
  const { key, file } = files(t);
  const { out } = await mote(["sign", "--help"]);
  const [, first = "", second = ""] = /(openssl dgst.*)\n\s*(openssl pkey.*)/.exec(out) ?? [];
  const shell = (line: string): string =>
    spawnSync("sh", ["-c", line.replace("key.pem", key).replace("FILE", file)])
      .stdout.toString()
      .trim();
  const signature = /([0-9a-f]+)$/.exec(shell(first))?.[1] ?? "";
  t.true(await holds(shell(second), signature));
});

test.serial("another curve's key, no key and no file are wrong usage, and quote nothing", async (t) => {
  const { key, file } = files(t);
  const wrong = files(t, "P-384");
  for (const [args, expected] of [
    [["sign", "--key", wrong.key, file], /is not a P-256 private key/],
    [["sign", "--key", file, file], /is not a P-256 private key/],
    [["sign", "--key", key, `${file}.none`], /cannot read .* \(ENOENT\)/],
    [["sign", file], /required option '--key <file>'/],
  ] as const) {
    const { code, err, out } = await mote([...args]);
    t.is(code, 2);
    t.regex(err, expected);
    t.is(out, "");
  }
});
