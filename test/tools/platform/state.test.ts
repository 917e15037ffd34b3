// What the platform keeps over its restarts, and what it says when it can't.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import type { Device } from "../../../tools/platform/core/devices.js";
import { JsonText, type Value } from "../../../tools/platform/core/values.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import type { StateError } from "../../../tools/platform/state/state.js";
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
  core.devices.setToken(device, "next-token");
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

const UNREADABLE = /^platform\.ndjson is unreadable \(.+\): put a copy .+, or move it away/s;

test("a damaged file is reported in a sentence, and left as it is", async (t) => {
  const directory = scratch();
  const file = join(directory, "platform.ndjson");
  const { platform, device } = await startWithDevice(t, directory);
  device.series.save("t", 1, 7n);
  addPackage(platform.core, {}, Buffer.from("bytes of the image"), "MD5");
  await platform.close();
  const whole = readFileSync(file, "utf8");
  const image = Buffer.from("bytes of the image").toString("base64");
  const other = Buffer.from("Bytes of the image").toString("base64");
  const damages: [string, string][] = [
    ["empty", ""],
    ["its first line is incomplete", whole.slice(0, 10)],
    ["zeros in a line", whole.replace('"token"', "\0".repeat(7))],
    ["a value of no known type", whole.replace('"l7"', '"x7"')],
    ["another file", "not a state, but a line\n"],
    ["another version", whole.replace(":2}", ":3}")],
    ["another file in a package", whole.replace(image, other)],
  ];
  for (const [what, damaged] of damages) {
    t.not(damaged, whole, what);
    writeFileSync(file, damaged);
    const error = await t.throwsAsync<StateError>(startPlatform({ port: 0, state: { directory } }));
    t.regex(error!.message, UNREADABLE, what);
    t.true(error!.isDamaged, what);
    t.is(readFileSync(file, "utf8"), damaged, `${what}: left as it is`);
  }
  writeFileSync(file, whole);
  const again = await start(t, directory);
  t.is(again.core.devices.byToken("token")?.series.latest("t")?.value, 7n, "a copy in its place will do");
});

test("passes over a last line that a killed process left incomplete", async (t) => {
  const directory = scratch();
  const file = join(directory, "platform.ndjson");
  const { platform, device } = await startWithDevice(t, directory);
  device.series.save("t", 1, 7n);
  const whole = readFileSync(file, "utf8");
  await platform.close();
  writeFileSync(file, whole.slice(0, -3));
  const again = await start(t, directory);
  const series = again.core.devices.byToken("token")?.series;
  t.is(series?.latest("t"), undefined);
  series?.save("t", 2, 8n);
  await again.close();
  t.is((await start(t, directory)).core.devices.byToken("token")?.series.latest("t")?.value, 8n);
});

test("only the user can read the folder and its files", async (t) => {
  const directory = join(scratch(), "below", "state");
  await startWithDevice(t, directory);
  t.is(statSync(directory).mode & 0o777, 0o700);
  t.is(statSync(join(directory, "platform.ndjson")).mode & 0o777, 0o600);
});
