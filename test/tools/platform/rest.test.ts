// Login, devices and credentials of the operator's REST: paths, shapes and errors as on the real
// platform.

import anyTest, { type TestFn } from "ava";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { until } from "../until.js";
import { jwtOf, START, TOKEN, VirtualClock } from "./rig.js";

interface Answer {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever came
  json: any;
}

interface Context {
  platform: Platform;
  clock: VirtualClock;
  tenant: string;
  customer: string;
  call(method: string, path: string, body?: unknown, token?: string): Promise<Answer>;
  deviceId: string;
}

const test = anyTest as TestFn<Context>;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";

test.beforeEach(async (t) => {
  const clock = new VirtualClock();
  const platform = await startPlatform({ port: 0, clock, log: (line) => t.fail(line) });
  const call: Context["call"] = async (method, path, body, token = t.context.tenant) => {
    const headers: Record<string, string> = token === "" ? {} : { "x-authorization": `Bearer ${token}` };
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      headers["content-type"] = "application/json";
      init.body = typeof body === "string" ? body : JSON.stringify(body);
    }
    const response = await fetch(platform.url + path, init);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && text !== "";
    return { status: response.status, text, json: isJson ? JSON.parse(text) : undefined };
  };
  t.context = { platform, clock, call, tenant: "", customer: "", deviceId: "" };
  t.context.tenant = (await jwtOf(platform)) ?? "";
  t.context.customer = (await jwtOf(platform, "customer")) ?? "";
  const created = await call("POST", `/api/device?accessToken=${TOKEN}`, { name: "d", type: "default" });
  t.context.deviceId = created.json.id.id;
});

test.afterEach.always((t) => t.context.platform.close());

test("refuses a wrong password and missing, foreign or expired tokens like a real server", async (t) => {
  const { call, clock, platform, tenant } = t.context;
  const login = { username: "tenant@thingsboard.org", password: "x" };
  const wrong = await call("POST", "/api/auth/login", login, "");
  const error = { status: 401, message: "Invalid username or password", errorCode: 10, timestamp: START };
  t.deepEqual([wrong.status, wrong.json], [401, error]);
  t.is((await call("GET", "/api/auth/user", undefined, "")).json.message, "Authentication failed");
  t.is((await call("GET", "/api/auth/user", undefined, "a.b.c")).status, 401);
  clock.advance(8_999_000);
  const headers = { authorization: `Bearer ${tenant}` };
  t.is((await fetch(`${platform.url}/api/auth/user`, { headers })).status, 200);
  clock.advance(1_000);
  const late = await call("GET", "/api/auth/user");
  t.deepEqual([late.status, late.json.errorCode, late.json.message], [401, 11, "Token has expired"]);
});

test("a refresh token gives new tokens and is refused as an access token", async (t) => {
  const { call, clock } = t.context;
  const login = { username: "tenant@thingsboard.org", password: "tenant" };
  const { refreshToken, token } = (await call("POST", "/api/auth/login", login, "")).json;
  clock.advance(9_000_000);
  t.is((await call("GET", "/api/auth/user", undefined, refreshToken)).status, 401);
  t.is((await call("POST", "/api/auth/token", { refreshToken: token }, "")).status, 401);
  const renewed = (await call("POST", "/api/auth/token", { refreshToken }, "")).json;
  const user = await call("GET", "/api/auth/user", undefined, renewed.token);
  t.like(user.json, { email: "tenant@thingsboard.org", authority: "TENANT_ADMIN" });
  clock.advance(604_800_000);
  t.is((await call("POST", "/api/auth/token", { refreshToken }, "")).status, 401);
});

test("a customer sees only what is theirs", async (t) => {
  const { call, customer, deviceId } = t.context;
  for (const [method, path] of [
    ["GET", `/api/device/${deviceId}`],
    ["GET", `/api/device/${deviceId}/credentials`],
    ["DELETE", `/api/device/${deviceId}`],
    ["GET", "/api/tenant/devices?pageSize=1&page=0"],
    ["GET", "/api/deviceProfiles?pageSize=1&page=0"],
    ["GET", `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries`],
    ["GET", "/api/otaPackages?pageSize=1&page=0"],
  ] as const) {
    const { status, json } = await call(method, path, undefined, customer);
    t.deepEqual([status, json.errorCode], [403, 20], path);
  }
});

test("rejects a wrong request with 400 and an unknown thing with 404", async (t) => {
  const { call, deviceId } = t.context;
  const shared = "/api/plugins/telemetry/DEVICE/ID/attributes/SHARED_SCOPE";
  for (const [line, body, status] of [
    ["POST /api/device", "{", 400],
    ["POST /api/device", "null", 400],
    ["POST /api/device", '{"name":"d"}', 400],
    ["POST /api/device", '{"name":5}', 400],
    ["POST /api/device", '{"id":{"id":"no"}}', 400],
    ["POST /api/device", '{"__proto__":{"name":"x"}}', 400],
    [`POST /api/device?accessToken=${TOKEN}`, '{"name":"e"}', 400],
    [`GET /api/device/${UNKNOWN}`, undefined, 404],
    ["GET /api/device/none", undefined, 400],
    ["GET /api/nothing", undefined, 404],
    ["GET /api/tenant/devices?pageSize=0&page=0", undefined, 400],
    ["GET /api/tenant/devices?deviceName=none", undefined, 404],
    ["POST /api/deviceProfile", '{"name":"default"}', 400],
    ["POST /api/plugins/telemetry/DEVICE/ID/attributes/CLIENT_SCOPE", '{"a":1}', 400],
    [`POST ${shared}`, "{}", 400],
    [`POST ${shared}`, '{"":1}', 400],
    [`POST ${shared}`, '{"a":1e99999}', 400],
    ["DELETE /api/plugins/telemetry/DEVICE/ID/SHARED_SCOPE", undefined, 400],
    ["POST /api/rpc/oneway/ID", "{}", 400],
    ["POST /api/rpc/oneway/ID", '{"method":"m","timeout":"soon"}', 400],
    [`POST /api/rpc/oneway/${UNKNOWN}`, '{"method":"m"}', 404],
  ] as const) {
    const [method = "", path = ""] = line.replace("ID", deviceId).split(" ");
    const answer = await call(method, path, body);
    t.is(answer.status, status, `${line} ${body}`);
    t.true(answer.json.errorCode >= 30, line);
  }
});

test("a shared attribute that is null is refused, and a null inside of one is kept", async (t) => {
  const { call, deviceId, platform } = t.context;
  const path = `/api/plugins/telemetry/DEVICE/${deviceId}/attributes/SHARED_SCOPE`;
  const refused = await call("POST", path, '{"good":1,"a":null}');
  t.is(refused.status, 500);
  t.like(refused.json, { message: "Can't parse value: null", errorCode: 2, status: 500 });
  const device = platform.core.devices.get(deviceId)!;
  t.deepEqual(device.attributes.list("SHARED_SCOPE"), []);
  const poll = fetch(`${platform.url}/api/v1/${TOKEN}/attributes/updates?timeout=5000`);
  await until(() => device.open.size > 0);
  t.is((await call("POST", path, '{"c":{"b":null,"a":1}}')).status, 200);
  t.is(await (await poll).text(), '{"c":{"b":null,"a":1}}');
});

test("an upload is checked, and a package that a device has can't be deleted", async (t) => {
  const { call, platform, tenant } = t.context;
  const [profile] = (await call("GET", "/api/deviceProfiles?pageSize=10&page=0&textSearch=mote")).json.data;
  const fields = { type: "FIRMWARE", title: "g", version: "2", deviceProfileId: profile.id, usesUrl: false };
  const { id } = (await call("POST", "/api/otaPackage", fields)).json;
  t.is((await call("POST", "/api/otaPackage", fields)).status, 400);
  const path = `/api/otaPackage/${id.id}`;
  t.false((await call("GET", `/api/otaPackage/info/${id.id}`)).json.hasData);
  const upload = async (query: string, content = "hello", name = "file"): Promise<Response> => {
    const body = new FormData();
    body.set(name, new Blob([content]), "a b.bin");
    const headers = { "x-authorization": `Bearer ${tenant}` };
    return fetch(`${platform.url}${path}?${query}`, { method: "POST", headers, body });
  };
  t.is((await upload("checksumAlgorithm=NONE")).status, 400);
  t.is((await upload("checksumAlgorithm=MD5&checksum=3610a686")).status, 400);
  t.is((await upload("checksumAlgorithm=MD5", "hello", "data")).status, 400);
  t.is((await upload("checksumAlgorithm=MD5", "")).status, 400);
  const done = await upload("checksumAlgorithm=MD5");
  t.like(await done.json(), {
    hasData: true,
    checksum: "5d41402abc4b2a76b9719d911017c592",
    dataSize: 5,
    fileName: "a b.bin",
  });
  t.is((await call("POST", `${path}?checksumAlgorithm=MD5`, "{}")).status, 415);
  await call("POST", "/api/device", { name: "fw", deviceProfileId: profile.id, firmwareId: id });
  t.is((await call("DELETE", path)).status, 400);
});

test("after ten wrong passwords in a row, a user waits a minute; others do not", async (t) => {
  const { call, clock } = t.context;
  const logIn = async (name: string, password: string): Promise<number> => {
    const body = { username: `${name}@thingsboard.org`, password };
    return (await call("POST", "/api/auth/login", body, "")).status;
  };
  for (let n = 0; n < 10; n++) t.is(await logIn("tenant", "wrong"), 401);
  t.is(await logIn("tenant", "tenant"), 400);
  t.is(await logIn("customer", "customer"), 200);
  for (let n = 0; n < 300; n++) await logIn(`nobody-${n}`, "x");
  t.is(await logIn("nobody", "x"), 400);
  clock.advance(60_000);
  t.is(await logIn("tenant", "tenant"), 200);
  for (let n = 0; n < 10; n++) t.is(await logIn("tenant", "wrong"), 401);
});

test("the request log is for the tenant's login alone", async (t) => {
  const { call, platform, customer } = t.context;
  await fetch(`${platform.url}/api/v1/${TOKEN}/telemetry`, { method: "POST", body: '{"a":1}' });
  t.is((await call("GET", "/api/requests", undefined, "")).status, 401);
  t.is((await call("GET", "/api/requests", undefined, customer)).status, 403);
  const { json } = await call("GET", "/api/requests");
  t.like(json[0], { method: "POST", path: "/api/v1/***/telemetry", device: "d" });
});

test("numbers go to the device and back as Java writes them, and a blank answer is null", async (t) => {
  const { call, deviceId, platform } = t.context;
  const device = `${platform.url}/api/v1/${TOKEN}`;
  const ask = async (params: string, answer: string): Promise<unknown[]> => {
    const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.text());
    const sent = call("POST", `/api/rpc/twoway/${deviceId}`, `{"method":"m","params":${params}}`);
    const got = await poll;
    await fetch(`${device}/rpc/${JSON.parse(got).id}`, { method: "POST", body: answer });
    const { status, text } = await sent;
    return [got.slice(got.indexOf('"params":') + 9, -1), status === 200 ? text : status];
  };
  t.deepEqual(await ask("1e+21", '{"a":1.50,"b":1e3}'), ["1.0E21", '{"a":1.5,"b":1000.0}']);
  t.deepEqual(await ask('[9223372036854775808,-0,"1e3",null,true]', " "), [
    '[9223372036854775808,0,"1e3",null,true]',
    "null",
  ]);
  t.deepEqual(await ask('{"x":1e400}', '"text"'), ['{"x":"Infinity"}', '"text"']);
  t.deepEqual(await ask("null", "not JSON"), ["null", 406]);
});

test("an undelivered RPC times out after at least 5 s", async (t) => {
  const { call, deviceId, clock, platform } = t.context;
  const device = platform.core.devices.get(deviceId)!;
  const send = async (base: string): Promise<number> => {
    const sent = call("POST", `${base}/${deviceId}`, { method: "m", params: {}, timeout: 100 });
    await until(() => device.rpc.pending > 0);
    clock.advance(4_999);
    t.is(device.rpc.pending, 1);
    clock.advance(1);
    return (await sent).status;
  };
  t.is(await send("/api/rpc/twoway"), 504);
  t.is(await send("/api/rpc/oneway"), 504);
});

for (const [strategy, status] of [
  ["DISABLED", "NOT_FOUND"],
  ["CHECK_PRE_PROVISIONED_DEVICES", "FAILURE"],
] as const)
  test(`a profile of ${strategy} answers unknown devices, and those of other profiles, ${status}`, async (t) => {
    const { call, platform } = t.context;
    const provisionConfiguration = { type: strategy, provisionDeviceSecret: "secret" };
    const profileData = { configuration: { type: "DEFAULT" }, provisionConfiguration };
    const profile = { name: "other", type: "DEFAULT", provisionType: strategy, provisionDeviceKey: "key" };
    t.is((await call("POST", "/api/deviceProfile", { ...profile, profileData })).status, 200);
    for (const deviceName of ["new", "d"]) {
      const keys = { deviceName, provisionDeviceKey: "key", provisionDeviceSecret: "secret" };
      const init = { method: "POST", body: JSON.stringify(keys) };
      const answer = await fetch(`${platform.url}/api/v1/provision`, init);
      t.like(await answer.json(), { status }, deviceName);
    }
  });

const field = (key: string) => ({ type: "ENTITY_FIELD", key });
const active = { type: "SERVER_ATTRIBUTE", key: "active" };

function query(more: object = {}, link: object = {}): object {
  return {
    entityFilter: { type: "entityType", entityType: "DEVICE" },
    pageLink: { pageSize: 10, page: 0, sortOrder: { key: field("name"), direction: "ASC" }, ...link },
    entityFields: [field("name"), field("type")],
    latestValues: [active],
    ...more,
  };
}

function filter(key: object, type: string, operation: string, defaultValue: unknown, ignoreCase = false) {
  return { key, valueType: type, predicate: { type, operation, value: { defaultValue }, ignoreCase } };
}

test("a customer finds only their own devices; an invalid query is refused", async (t) => {
  const { call, customer } = t.context;
  const own = await call("POST", "/api/entitiesQuery/find", query(), customer);
  t.deepEqual(own.json.data, []);
  t.is((await call("POST", "/api/entitiesQuery/find", query(), "")).status, 401);
  let deep: object = filter(active, "BOOLEAN", "EQUAL", true).predicate;
  for (let n = 0; n < 50; n++) deep = { type: "COMPLEX", operation: "AND", predicates: [deep] };
  for (const wrong of [
    {},
    query({}, { pageSize: 0 }),
    query({}, { page: -1 }),
    query({ entityFields: [{ type: "NO_SUCH", key: "a" }] }),
    query({ entityFilter: { type: "entityType", entityType: "ASSET" } }),
    query({ entityFilter: { type: "relationsQuery" } }),
    query({ keyFilters: [filter(active, "STRING", "constructor", "a")] }),
    query({ keyFilters: [{ key: active, predicate: deep }] }),
  ])
    t.is((await call("POST", "/api/entitiesQuery/find", wrong)).status, 400, JSON.stringify(wrong));
});
