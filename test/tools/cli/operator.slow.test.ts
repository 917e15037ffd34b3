// The operator's commands, in processes of their own, against a local platform with a device played
// by hand.

import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { join } from "node:path";
import test from "ava";
import { isSignedBy, toPublicKey, toSignature } from "../../../src/wire/crypto/p256.js";
import { isSameText, judge, NO_CHECKSUM } from "../../../tools/cli/operator/updates.js";
import type { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { listen } from "../../fakes/listen.js";
import { CERT, KEY } from "../../hosts/port/tls-fixture.js";
import { operatorOf } from "../operator-of.js";
import { scratch } from "../scratch.js";
import { killAll, mote, type Result } from "./commands.js";

const PASSWORD = { MOTE_PLATFORM_PASSWORD: "tenant" };
const USER = "tenant@thingsboard.org";
let platform: Platform;
let operator: Operator;
let home: string;
let login: string;
const image = Buffer.alloc(200_000, "mote");

test.before(async () => {
  home = scratch();
  login = join(home, "config", "login.json");
  writeFileSync(join(home, "image.bin"), image);
  platform = await startPlatform({ port: 0 });
  operator = await operatorOf(platform);
  const { code } = await as(["login", "--url", platform.url, "--username", USER], PASSWORD);
  if (code !== 0) throw new Error("the login failed");
});
test.after.always(async () => {
  killAll();
  await platform.close();
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

test("stores a login readable by the user only, without the password", (t) => {
  t.is(statSync(login).mode & 0o777, 0o600);
  t.is(statSync(join(home, "config")).mode & 0o777, 0o700);
  const kept = JSON.parse(readFileSync(login, "utf8"));
  t.deepEqual(Object.keys(kept), ["format", "url", "username", "session"]);
  t.deepEqual(Object.keys(kept.session), ["token", "refreshToken"]);
});

test("login says who is logged in, --list shows the saved logins, --use switches", async (t) => {
  const env = { MOTE_LOGIN: join(home, "several", "login.json") };
  const elsewhere = platform.url.replace("127.0.0.1", "localhost");
  t.regex((await mote(["login", "--list"], env)).err, /No saved login/);
  const add = (url: string, ...more: string[]): Promise<Result> =>
    mote(["login", "--url", url, "--username", USER, ...more], { ...env, ...PASSWORD });
  const { err } = await add(platform.url);
  t.regex(err, /as tenant@thingsboard\.org, tenant administrator\. Later commands go there\./);
  t.is((await add(elsewhere, "--platform", "home")).code, 0);
  const list = (): Promise<Result> => mote(["login", "--list"], env);
  t.regex((await list()).out, /^ +default .*\n\* +home +http:\/\/localhost/m);
  t.notRegex((await list()).out, /eyJ/);
  t.is((await mote(["login", "--use", "nothere"], env)).code, 4);
  t.is((await mote(["login", "--use", "default"], env)).code, 0);
  t.regex((await list()).out, /^\* +default/m);
  t.is((await mote(["devices"], env)).code, 0);
});

test("devices lists firmware and update state in one query, and filters by profile and version", async (t) => {
  const { id } = await operator.profiles.save({ name: "wells" });
  for (const [name, version] of [
    ["well-1", "1.0.0"],
    ["well-2", "2.0"],
  ] as const) {
    await operator.devices.create({ name, deviceProfileId: id }, `${name}-token`);
    const values = { current_fw_title: "well", current_fw_version: version, fw_state: "UPDATED" };
    await device(`${name}-token`, "POST", "telemetry", values);
  }
  const list = async (...args: string[]): Promise<Record<string, unknown>[]> =>
    JSON.parse((await as(["devices", "--json", ...args])).out);
  t.like(await list("--profile", "wells"), [
    { name: "well-1", profile: "wells", active: true, firmware: { title: "well", version: "1.0.0" } },
    { name: "well-2", firmware: { state: "UPDATED" } },
  ]);
  t.deepEqual(
    (await list("--version", "2.0")).map(({ name }) => name),
    ["well-2"],
  );
  t.deepEqual(
    (await list("WELL", "--limit", "1")).map(({ name }) => name),
    ["well-1"],
  );
  t.regex((await as(["devices", "well-1"])).out, /well-1 +wells +well 1\.0\.0 +confirmed +active/);
  t.deepEqual(await list("--profile", "nothere"), []);
});

test("reports a refused login, a server that is not a platform, and a login for another one", async (t) => {
  const refused = await as(["login", "--url", platform.url, "--username", USER], {
    MOTE_PLATFORM_PASSWORD: "hunter2",
  });
  t.is(refused.code, 3);
  t.regex(refused.err, /refused the login/);
  t.false(refused.err.includes("hunter2"));
  const page = createServer((_, response) => response.end("<html>Welcome</html>"));
  const port = await listen(page, t);
  const other = await as(["login", "--url", `http://127.0.0.1:${port}`, "--username", USER], PASSWORD);
  t.is(other.code, 1);
  t.regex(other.err, /is not a ThingsBoard platform/);
  const elsewhere = await as(["devices"], { MOTE_PLATFORM_URL: "http://127.0.0.1:9" });
  t.is(elsewhere.code, 2);
  t.regex(elsewhere.err, /not logged in at http:\/\/127\.0\.0\.1:9/);
});

test("renews an expired session and stores it; asks for a login if the platform refuses", async (t) => {
  const own = join(home, "old.json");
  const kept = JSON.parse(readFileSync(login, "utf8"));
  const { refreshToken } = kept.session;
  const keep = (session: object): void =>
    writeFileSync(own, JSON.stringify({ ...kept, session }), { mode: 0o600 });
  keep({ token: "a.b.c", refreshToken });
  t.is((await mote(["devices", "--json"], { MOTE_LOGIN: own })).code, 0);
  t.not(JSON.parse(readFileSync(own, "utf8")).session.token, "a.b.c");
  keep({ token: "a.b.c", refreshToken: "d.e.f" });
  const ended = await mote(["devices"], { MOTE_LOGIN: own });
  t.is(ended.code, 3);
  t.regex(ended.err, /log in again: (npx mote-cli|mote) login/);
  t.false(ended.err.includes("d.e.f"));
});

test("takes an API key and a private CA, both kept with the login", async (t) => {
  const answers: Record<string, object> = {
    "/api/auth/user": { id: { id: "u-1" }, email: "key@example.com", authority: "TENANT_ADMIN" },
    "/api/entitiesQuery/find": { data: [], hasNext: false, totalElements: 0, totalPages: 0 },
  };
  const own = createSecureServer({ key: KEY, cert: CERT }, ({ url = "", headers }, response) => {
    const isKnown = headers["x-authorization"] === "ApiKey the-secret-key";
    response.statusCode = isKnown ? 200 : 401;
    response.end(JSON.stringify(isKnown ? answers[url] : { message: "no" }));
  });
  const url = `https://localhost:${await listen(own, t)}`;
  const env = { MOTE_LOGIN: join(home, "key", "login.json") };
  const ca = join(home, "ca.pem");
  writeFileSync(ca, CERT);
  const untrusted = await mote(["login", "--url", url, "--api-key-stdin"], env, "the-secret-key\n");
  t.is(untrusted.code, 1);
  const args = ["login", "--url", url, "--ca", ca, "--api-key-stdin"];
  t.is((await mote(args, env, "another-key\n")).code, 3);
  const { code, err } = await mote(args, env, "the-secret-key\n");
  t.is(code, 0, err);
  t.regex(err, /as key@example\.com, tenant administrator/);
  t.is((await mote(["devices"], env)).code, 0);
  const direct = { MOTE_LOGIN: "none.json", MOTE_PLATFORM_URL: url, MOTE_PLATFORM_API_KEY: "the-secret-key" };
  t.is((await mote(["devices", "--ca", ca], direct)).code, 0);
  t.regex(
    (await mote(["devices"], direct)).err,
    /trust a private CA with --ca FILE|not a ThingsBoard|no connection/,
  );
});

test("takes the token of MOTE_PLATFORM_JWT", async (t) => {
  const env = { MOTE_LOGIN: "none.json", MOTE_PLATFORM_URL: platform.url };
  const { token } = JSON.parse(readFileSync(login, "utf8")).session;
  t.is((await mote(["devices"], { ...env, MOTE_PLATFORM_JWT: token })).code, 0);
  t.is((await mote(["devices"], { ...env, MOTE_PLATFORM_JWT: "a.b.c" })).code, 3);
});

test("unknown devices and keys end with 4 and say what there is", async (t) => {
  await made("orchard-7");
  await device("orchard-7-token", "POST", "telemetry", { level: 1 });
  await device("orchard-7-token", "POST", "attributes", { serial: "A" });
  for (const [args, hint] of [
    [["devices", "get", "orchrad-7"], /no device "orchrad-7" \(list all: .*mote-cli devices\)/],
    [["telemetry", "orchard-7", "levle"], /no value of levle \(there are: level\)/],
    [["telemetry", "orchard-7", "levle", "--from", "-1h"], /no value of levle \(there are: level\)/],
    [["attributes", "orchard-7", "seriol"], /no value of seriol \(there are: .*serial/],
    [["logs", "orchrad-7"], /no device "orchrad-7"/],
  ] as const) {
    const { code, err } = await as([...args]);
    t.is(code, 4, err);
    t.regex(err, hint);
  }
  t.regex((await as(["telemetry", "orchard-7", "--from", "-1h"])).out, /:\d\d\.\d{3} +1\n/);
  t.regex((await as(["attributes", "orchard-7"])).out, /client +serial +A/);
});

test("attributes set refuses keys that devices cannot use", async (t) => {
  await made("keys-2");
  for (const key of ["a,b", "<b>", " "]) {
    const { code, err } = await as(["attributes", "set", "keys-2", `${key}=1`]);
    t.is(code, 2, err);
    t.regex(err, /invalid key: /);
  }
  const { code, err } = await as(["attributes", "set", "keys-2", "fw_version=3"]);
  t.is(code, 2, err);
  t.regex(err, /the platform itself sets fw_version \(assign a package: /);
});

test("push names a device that runs another firmware title", async (t) => {
  await made("valve-9");
  await device("valve-9-token", "POST", "telemetry", { current_fw_title: "valve" });
  const file = join(home, "pump.bin");
  writeFileSync(file, "a pump's image");
  const words = ["--title", "pump-9", "--version", "1.0.0", "--device", "valve-9", "--timeout", "1s"];
  const { code, err } = await as(["firmware", "push", file, ...words]);
  t.is(code, 4, err);
  t.regex(err, /run another firmware title, and may refuse this image: valve-9 \(valve\)\./);
});

test("names other bytes, another profile, and what still uses a package", async (t) => {
  const pumps = await operator.profiles.save({ name: "water pumps" });
  await operator.profiles.save({ name: "valves" });
  const file = join(home, "image.bin");
  const other = join(home, "other.bin");
  writeFileSync(other, "other bytes");
  const { id } = await operator.devices.create({ name: "wp-1", deviceProfileId: pumps.id });
  const push = (path: string, profile: string): Promise<Result> =>
    as(["firmware", "push", path, "--title", "wp", "--version", "1", "--profile", profile, "--no-wait"]);
  t.is((await push(file, "water pumps")).code, 0);
  t.is((await push(file, "water pumps")).code, 0);
  const sum = createHash("sha256").update("other bytes").digest("hex");
  t.regex(
    (await push(other, "water pumps")).err,
    new RegExp(`SHA256 [0-9a-f]{64}, 200000 bytes; .*${sum}, 11 bytes`),
  );
  t.regex((await push(file, "valves")).err, /is a package of the profile 'water pumps', not of valves/);
  const shown = JSON.parse((await as(["devices", "get", "wp-1", "--json"])).out);
  t.like(shown.firmware, { wanted: null, profile: { title: "wp", version: "1" } });
  const { id: used } = (await operator.ota.find("wp", "1"))!;
  await operator.ota.assign(id.id, used.id);
  const refused = await as(["firmware", "delete", "wp", "1", "--yes"]);
  t.is(refused.code, 1);
  t.regex(refused.err, /still assigned to --profile 'water pumps', --device wp-1/);
});

test("shows keys with commas among the latest values, and no control characters", async (t) => {
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

test("an RPC answer that is nested too deeply ends in one sentence", async (t) => {
  const deep = "[".repeat(20_000) + "]".repeat(20_000);
  const found = { id: { entityType: "DEVICE", id: "00000000-0000-4000-8000-000000000001" }, name: "deep" };
  const server = createServer(({ url = "" }, response) =>
    response.end(url.startsWith("/api/rpc/") ? deep : JSON.stringify(found)),
  );
  const url = `http://127.0.0.1:${await listen(server, t)}`;
  const { code, err } = await mote(["rpc", "deep", "echo"], {
    MOTE_PLATFORM_URL: url,
    MOTE_PLATFORM_JWT: "a",
  });
  t.is(code, 1);
  t.regex(err, /^error: .*the answer is nested too deeply\n$/);
});

test("ignores firmware states that the device reported before the assignment", (t) => {
  const device = { id: "d", name: "d" };
  const wanted = { title: "pump", version: "2.0", checksum: "C2" };
  const at = (ts: number, value: unknown) => ({ ts, value });
  const old = { fw_state: at(1, "FAILED"), current_fw_title: at(1, "pump"), current_fw_version: at(1, 1) };
  t.like(judge(device, old, old, wanted), { state: "waiting", end: undefined });
  t.like(judge(device, old, { ...old, fw_state: at(2, "FAILED") }, wanted), {
    state: "FAILED",
    end: "failed",
  });
  const named = { ...old, fw_state: at(2, "UPDATED"), current_fw_version: at(2, 2) };
  const runs = { ...named, current_fw_checksum: at(2, "c2") };
  t.is(judge(device, old, { ...named, current_fw_checksum: at(2, "c1") }, wanted).end, undefined);
  t.like(judge(device, old, named, wanted), { end: "failed", error: NO_CHECKSUM });
  t.like(judge(device, old, runs, wanted), { state: "UPDATED", end: "updated" });
  t.like(judge(device, runs, runs, wanted), { state: "UPDATED", end: "updated" });
  t.is(judge(device, old, { ...old, fw_state: at(2, "UPDATED") }, wanted).end, undefined);
});

test("compares versions as the platform stores them, and long numbers exactly", (t) => {
  for (const [stored, text, same] of [
    [2, "2.0", true],
    [0.5, ".5", true],
    ["2.0", "2", true],
    ["9007199254740993", "9007199254740992", false],
    ["1.0.0", "1.0.0", true],
  ] as const)
    t.is(isSameText(stored, text), same, text);
});

const IMAGE = Buffer.from("an image");
const rest = (): Promise<void> => Promise.resolve();

async function holds(key: string, signature: string): Promise<boolean> {
  const [point, pair] = [toPublicKey(key), toSignature(signature)];
  const digest = createHash("sha256").update(IMAGE).digest("hex");
  return point !== undefined && pair !== undefined && isSignedBy(point, digest, pair, rest);
}

test.serial("sign, and the openssl commands in its help, make a valid signature", async (t) => {
  const [key, file] = [join(home, "key.pem"), join(home, "signed.bin")];
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(file, IMAGE);
  const { code, out } = await mote(["sign", "--key", key, file]);
  t.is(code, 0);
  const [, signature = "", publicKey = ""] =
    /^fw_signature ([0-9a-f]+)\npublicKey {4}([0-9a-f]+)\n$/.exec(out) ?? [];
  t.true(await holds(publicKey, signature));
  if (spawnSync("openssl", ["version"]).status !== 0) return;
  const { out: help } = await mote(["sign", "--help"]);
  const [, first = "", second = ""] = /(openssl dgst.*)\n\s*(openssl pkey.*)/.exec(help) ?? [];
  const shell = (line: string): string =>
    spawnSync("sh", ["-c", line.replace("key.pem", key).replace("FILE", file)])
      .stdout.toString()
      .trim();
  const byOpenssl = /([0-9a-f]+)$/.exec(shell(first))?.[1] ?? "";
  t.true(await holds(shell(second), byOpenssl));
});
