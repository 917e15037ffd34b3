// What the platform keeps over its restarts, and what it says when it can't.
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import Database from "libsql";
import type { Device } from "../../../tools/platform/core/devices.js";
import { JsonText, type Value } from "../../../tools/platform/core/values.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import type { StateError } from "../../../tools/platform/state/database.js";
import { platformFor } from "../platform-for.js";
import { scratch } from "../scratch.js";
import { addPackage, jwtOf, VirtualClock } from "./rig.js";

const clock = new VirtualClock();

const start = (t: ExecutionContext, directory: string): Promise<Platform> =>
  platformFor(t, { clock, state: { directory } });

/** With the device "d", whose token is "token". */
async function startWithDevice(t: ExecutionContext, directory: string) {
  const platform = await start(t, directory);
  const { core } = platform;
  const profileId = core.profiles.default.id;
  return { platform, core, profileId, device: core.createDevice({ name: "d", profileId }, "token") };
}

const VALUES: readonly [string, Value][] = [
  ["yes", true],
  ["no", false],
  ["long", 42n],
  ["longest", -(2n ** 63n)],
  ["double", 1.1e-7],
  ["whole double", 42],
  ["text", 'with "quotes", \u{1f600} and \n'],
  ["empty", ""],
  ["json", new JsonText('{"a":[1.50,null]}')],
];

/** JSON keeps no member that is undefined. */
function defined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function everything({ core, profile }: Platform): unknown {
  const { devices, packages, rpcRecords } = core;
  return {
    profile,
    profiles: core.profiles.list(),
    devices: devices.list().map((device: Device) => ({
      ...defined(device),
      open: undefined,
      rpc: undefined,
      notifications: undefined,
      attributes: ["CLIENT_SCOPE", "SHARED_SCOPE", "SERVER_SCOPE"].map((scope) =>
        device.attributes.list(scope as "CLIENT_SCOPE").sort(([one], [other]) => (one < other ? -1 : 1)),
      ),
      series: device.series
        .keys()
        .sort()
        .map((key) => [
          key,
          device.series.range(key, { startTs: -(2 ** 60), endTs: 2 ** 62, limit: 1_000, ascending: true }),
        ]),
      records: rpcRecords.list(device.id).map((rpc) => defined({ ...rpc, requestId: undefined })),
    })),
    packages: packages.list().map((one) => defined({ ...one, bytes: one.bytes && Buffer.from(one.bytes) })),
  };
}

test("devices, credentials, attributes, series, packages and RPCs are as they were", async (t) => {
  const directory = scratch();
  const before = await start(t, directory);
  const { core } = before;
  const { default: profile } = core.profiles;
  const device = core.createDevice({ name: "kept", label: "L", profileId: profile.id }, "token");
  core.devices.setCredentials(device, { type: "ACCESS_TOKEN", credentialsId: "next-token", value: null });
  const gone = core.createDevice({ name: "gone", profileId: profile.id }, "gone-token");
  core.receiveTelemetry(gone, 1, VALUES);
  core.saveAttributes(gone, "SHARED_SCOPE", VALUES);
  for (const ts of [-5, 0, 1_760_000_000_000, 2 ** 53]) core.receiveTelemetry(device, ts, VALUES);
  core.receiveTelemetry(device, 0, [["text", "again"]]);
  core.receiveTelemetry(device, 0, [["deleted", 1n]]);
  device.series.delete("deleted");
  for (const scope of ["SHARED_SCOPE", "SERVER_SCOPE"] as const) core.saveAttributes(device, scope, VALUES);
  core.receiveAttributes(device, VALUES);
  core.deleteAttributes(device, "SHARED_SCOPE", ["yes"]);
  const target = addPackage(core, {}, Buffer.from("of the image"));
  core.packages.delete(addPackage(core, { version: "2" }));
  core.updateDevice(device, { ...device, firmwareId: target.id });
  clock.advance(1_000);
  const rpc = { params: '{"a":1}', oneWay: false, expiresAt: clock.now() + 1e6 };
  core.rpcRecords.send(device, { ...rpc, method: "waits" });
  core.rpcRecords.send(device, { ...rpc, method: "waits too" });
  core.deleteDevice(gone);
  device.customerId = "13814000-1dd2-11b2-8080-808080808081";
  core.deviceChanged(device);
  const session = await jwtOf(before);
  const was = everything(before);
  await before.close();

  const after = await start(t, directory);
  t.deepEqual(everything(after), was);
  t.is(after.core.devices.byToken("token"), undefined);
  t.is(after.core.devices.byToken("gone-token"), undefined);
  const { id } = after.core.devices.byToken("next-token")!;
  const headers = { "x-authorization": `Bearer ${session}` };
  t.is((await fetch(`${after.url}/api/device/${id}`, { headers })).status, 200, "a session goes on");
  // What was never handed out comes again, the oldest first, under ids from 0.
  const polled = await fetch(`${after.url}/api/v1/next-token/rpc`);
  t.deepEqual(await polled.json(), { id: 0, method: "waits", params: { a: 1 } });
});

test("after a restart an overdue RPC is EXPIRED, a delivered one DELIVERED", async (t) => {
  const directory = scratch();
  const { platform: before, device } = await startWithDevice(t, directory);
  const send = (method: string, expiresAt: number) =>
    before.core.rpcRecords.send(device, { method, params: "{}", oneWay: false, expiresAt })!.id;
  const handed = send("handed out", clock.now() + 1e6);
  await (await fetch(`${before.url}/api/v1/token/rpc`)).text();
  const short = send("short", clock.now() + 1_000);
  const open = send("open", clock.now() + 1e6);
  await before.close();
  clock.advance(2_000);
  const after = await start(t, directory);
  const status = (id: string) => after.core.rpcRecords.get(id)?.status;
  clock.advance(1);
  t.deepEqual([status(handed), status(short), status(open)], ["DELIVERED", "EXPIRED", "QUEUED"]);
  const polled = (await (await fetch(`${after.url}/api/v1/token/rpc`)).json()) as { method: string };
  t.is(polled.method, "open");
});

test("a device that was not notified of an assignment is notified after the restart", async (t) => {
  const directory = scratch();
  const { platform: before, core, device } = await startWithDevice(t, directory);
  const url = "http://127.0.0.1/image";
  const target = addPackage(core, { url });
  core.updateDevice(device, { ...device, firmwareId: target.id });
  t.is(device.attributes.get("SHARED_SCOPE", "fw_url"), undefined);
  await before.close();
  const after = await start(t, directory);
  clock.advance(1_000);
  const shared = after.core.devices.byToken("token")?.attributes;
  t.is(shared?.get("SHARED_SCOPE", "fw_url")?.value, url);
});

const UNREADABLE = /^platform\.db is unreadable \(.+\): put a copy .+, or move it and its -wal file away/s;

test("a damaged file is reported in a sentence, and left as it is", async (t) => {
  const directory = scratch();
  const file = join(directory, "platform.db");
  const { platform, device } = await startWithDevice(t, directory);
  for (let ts = 0; ts < 2_000; ts++) device.series.save("t", ts, BigInt(ts));
  addPackage(platform.core, {}, Buffer.from("bytes of the image"), "MD5");
  await platform.close();
  const whole = readFileSync(file);
  const reader = new Database(file, { readonly: true });
  const index = reader.prepare("SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_record_1'");
  const page = (index.get() as { rootpage: number }).rootpage - 1;
  reader.close();
  const image1 = "bytes of the image";
  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ["pages of zeros", (bytes) => bytes.fill(0, 8_192, 40_000)],
    ["an index that no start reads", (bytes) => bytes.fill(0, page * 4_096 + 200, (page + 1) * 4_096)],
    ["cut in the middle", (bytes) => bytes.subarray(0, bytes.length >> 1)],
    ["no database", () => Buffer.from("not a database, but long enough to be one")],
    ["another version", (bytes) => Buffer.from(bytes.fill(9, 63, 64))],
    ["another program's", (bytes) => Buffer.from(bytes.fill(9, 68, 72))],
    [
      "another file in a package",
      (bytes) => bytes.fill("X", bytes.indexOf(image1), bytes.indexOf(image1) + 1),
    ],
  ];
  for (const [what, damage] of damages) {
    const bytes = damage(Buffer.from(whole));
    writeFileSync(file, bytes);
    rmSync(`${file}-wal`, { force: true });
    const error = await t.throwsAsync<StateError>(startPlatform({ port: 0, state: { directory } }));
    t.regex(error!.message, UNREADABLE, what);
    t.true(error!.isDamaged, what);
    t.deepEqual(readFileSync(file), bytes, `${what}: left as it is`);
  }
  writeFileSync(file, whole);
  const again = await start(t, directory);
  t.is(again.core.devices.byToken("token")?.series.latest("t")?.value, 1_999n, "a copy in its place will do");
});

/** Files of the folder, except the lock and SQLite's shared memory, which it makes again. */
function contents(directory: string): Record<string, string> {
  const names = readdirSync(directory).filter(
    (name) => name.startsWith("platform.db") && !name.endsWith("-shm"),
  );
  return Object.fromEntries(
    names.sort().map((name) => [name, readFileSync(join(directory, name), "base64")]),
  );
}

test("rejects an empty, truncated or missing database beside its log and changes neither file", async (t) => {
  const source = scratch();
  await (await start(t, source)).close();
  const { platform, core, profileId } = await startWithDevice(t, source);
  for (let n = 0; n < 200; n++) core.createDevice({ name: `d${n}`, profileId }, `t${n}`);
  await (await fetch(`${platform.url}/api/v1/t0/attributes`, { method: "POST", body: '{"a":1}' })).text();
  const whole = ["platform.db", "platform.db-wal"].map((name) => readFileSync(join(source, name)));
  const [database, log] = whole as [Buffer, Buffer];
  t.true(log.length > 4_096);
  const cases: [string, Buffer | undefined, Buffer | undefined][] = [
    ["0 bytes beside a log", Buffer.alloc(0), log],
    ["no database beside a log", undefined, log],
    ["a first page alone", database.subarray(0, 4_096), undefined],
    ["cut beside a log", database.subarray(0, 12_288), log.subarray(0, 8_192)],
  ];
  for (const [what, file, wal] of cases) {
    const directory = scratch();
    if (file) writeFileSync(join(directory, "platform.db"), file);
    if (wal) writeFileSync(join(directory, "platform.db-wal"), wal);
    const before = contents(directory);
    const error = await t.throwsAsync(startPlatform({ port: 0, state: { directory } }), undefined, what);
    t.regex(error?.message ?? "", UNREADABLE, what);
    t.true((error as StateError).isDamaged, what);
    t.deepEqual(contents(directory), before, `${what}: left as it is`);
  }
});

test("a first start that was killed leaves nothing that the next one would refuse", async (t) => {
  const directory = scratch();
  // The new database gets its name only when it is whole.
  writeFileSync(join(directory, "platform.db.new"), "half of a database");
  writeFileSync(join(directory, "platform.db.new-journal"), "half of a journal");
  await (await start(t, directory)).close();
  t.deepEqual(Object.keys(contents(directory)), ["platform.db", "platform.db-wal"]);
});

test("accepts a log that ends in the middle of a write", async (t) => {
  const directory = scratch();
  const log = join(directory, "platform.db-wal");
  const { platform } = await startWithDevice(t, directory);
  await (await fetch(`${platform.url}/api/v1/token/attributes`, { method: "POST", body: '{"a":1}' })).text();
  const copy = scratch();
  writeFileSync(join(copy, "platform.db"), readFileSync(join(directory, "platform.db")));
  writeFileSync(join(copy, "platform.db-wal"), readFileSync(log));
  truncateSync(join(copy, "platform.db-wal"), statSync(log).size - 100);
  await t.notThrowsAsync(start(t, copy));
});

test("only the user can read the folder and its files", async (t) => {
  const directory = join(scratch(), "below", "state");
  await startWithDevice(t, directory);
  t.is(statSync(directory).mode & 0o777, 0o700);
  t.is(statSync(join(directory, "platform.db")).mode & 0o777, 0o600);
});
