// Login, devices and credentials of the operator's REST: paths, shapes and errors as on the real platform.

import { request as ask, type IncomingMessage } from "node:http";
import plainTest, { type ExecutionContext } from "ava";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";
import { type Context, NIL, TOKEN, test, UNKNOWN } from "./rest/rest-rig.js";
import { START, VirtualClock } from "./rig.js";

test("refuses a wrong password and missing, foreign or expired tokens like a real server", async (t) => {
  const { call, clock } = t.context;
  const wrong = await call(
    "POST",
    "/api/auth/login",
    { username: "tenant@thingsboard.org", password: "x" },
    "",
  );
  const error = { status: 401, message: "Invalid username or password", errorCode: 10, timestamp: START };
  t.deepEqual([wrong.status, wrong.json], [401, error]);
  t.is((await call("GET", "/api/auth/user", undefined, "")).json.message, "Authentication failed");
  t.is((await call("GET", "/api/auth/user", undefined, "a.b.c")).status, 401);
  clock.advance(8_999_000);
  t.is((await call("GET", "/api/auth/user")).status, 200);
  clock.advance(1_000);
  const late = await call("GET", "/api/auth/user");
  t.deepEqual([late.status, late.json.errorCode, late.json.message], [401, 11, "Token has expired"]);
});

test("a refresh token gives new tokens, and is no access token", async (t) => {
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

test("Authorization works as X-Authorization does", async (t) => {
  const { platform, tenant } = t.context;
  const headers = { authorization: `Bearer ${tenant}` };
  t.is((await fetch(`${platform.url}/api/auth/user`, { headers })).status, 200);
});

test("a device is created, read, found by name, listed, changed and deleted", async (t) => {
  const { call, deviceId } = t.context;
  const created = await call("POST", "/api/device", { name: "new", label: "l" });
  t.like(created.json, {
    name: "new",
    type: "default",
    label: "l",
    customerId: { id: NIL },
    firmwareId: null,
  });
  t.is(created.json.id.entityType, "DEVICE");
  const path = `/api/device/${created.json.id.id}`;
  t.deepEqual((await call("GET", path)).json, created.json);
  t.deepEqual((await call("GET", "/api/tenant/devices?deviceName=new")).json, created.json);
  t.is((await call("GET", "/api/tenant/devices?deviceName=none")).status, 404);
  const list = (await call("GET", "/api/tenant/devices?pageSize=1&page=0&textSearch=D")).json;
  t.like(list, { totalElements: 1, totalPages: 1, hasNext: false });
  t.is(list.data[0].id.id, deviceId);
  t.like((await call("GET", "/api/tenant/devices?pageSize=1&page=0")).json, {
    totalElements: 2,
    hasNext: true,
  });
  const renamed = await call("POST", "/api/device", { ...created.json, name: "renamed" });
  t.like(renamed.json, { name: "renamed", id: created.json.id, version: 2 });
  t.is((await call("DELETE", path)).status, 200);
  t.is((await call("GET", path)).status, 404);
});

test("a taken name, a taken token, no name and a bad body are a 400 that says why", async (t) => {
  const { call } = t.context;
  t.is(
    (await call("POST", "/api/device", { name: "d" })).json.message,
    "Device with such name already exists!",
  );
  t.is((await call("POST", `/api/device?accessToken=${TOKEN}`, { name: "e" })).status, 400);
  t.is((await call("POST", "/api/device", {})).json.message, "Device name should be specified!");
  for (const body of [
    "{",
    "[]",
    "null",
    '{"name":5}',
    '{"name":"x","firmwareId":7}',
    '{"id":{"id":"no"}}',
    '{"__proto__":{"name":"x"}}',
  ]) {
    const { status, json } = await call("POST", "/api/device", body);
    t.is(status, 400, body);
    t.true(json.errorCode >= 30, body);
  }
});

test("unknown and malformed ids, unknown paths and missing pages are distinguished", async (t) => {
  const { call } = t.context;
  t.is((await call("GET", `/api/device/${UNKNOWN}`)).json.errorCode, 32);
  t.is((await call("GET", "/api/device/none")).status, 400);
  t.is((await call("GET", "/api/nothing")).status, 404);
  t.is((await call("GET", "/api/tenant/devices")).status, 400);
  t.is((await call("GET", "/api/tenant/devices?pageSize=0&page=0")).status, 400);
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

test("credentials are read, and changed", async (t) => {
  const { call, deviceId, platform } = t.context;
  const path = `/api/device/${deviceId}/credentials`;
  const { json } = await call("GET", path);
  t.like(json, { credentialsType: "ACCESS_TOKEN", credentialsId: TOKEN, deviceId: { id: deviceId } });
  t.is((await call("POST", "/api/device/credentials", { ...json, credentialsId: "another" })).status, 200);
  const probe = (token: string) =>
    fetch(`${platform.url}/api/v1/${token}/attributes`).then(({ status }) => status);
  t.deepEqual([await probe(TOKEN), await probe("another")], [401, 200]);
});

// Attributes and time series through the operator's REST.

test("attributes are set by both paths, read by scope and key, and deleted", async (t) => {
  const { call, deviceId } = t.context;
  const base = "/api/plugins/telemetry";
  t.is((await call("POST", `${base}/${deviceId}/SHARED_SCOPE`, '{"a":"007","b":1.50}')).status, 200);
  t.is(
    (await call("POST", `${base}/DEVICE/${deviceId}/attributes/SERVER_SCOPE`, '{"c":{"x":null}}')).status,
    200,
  );
  t.is((await call("POST", `${base}/DEVICE/${deviceId}/SHARED_SCOPE`, '{"d":true}')).status, 200);
  const read = async (rest: string) =>
    (await call("GET", `${base}/DEVICE/${deviceId}/values/attributes${rest}`)).text;
  t.is(
    await read("/SHARED_SCOPE?keys=a,b"),
    `[{"lastUpdateTs":${START},"key":"a","value":7},{"lastUpdateTs":${START},"key":"b","value":1.5}]`,
  );
  t.is(await read("?keys=c"), `[{"lastUpdateTs":${START},"key":"c","value":{"x":null}}]`);
  t.is((await call("DELETE", `${base}/${deviceId}/SHARED_SCOPE?keys=a,d`)).status, 200);
  t.is((await call("DELETE", `${base}/DEVICE/${deviceId}/SHARED_SCOPE?keys=b`)).status, 200);
  t.is(await read("/SHARED_SCOPE"), "[]");
  for (const [method, path, body] of [
    ["POST", `${base}/${deviceId}/CLIENT_SCOPE`, '{"a":1}'],
    ["POST", `${base}/${deviceId}/OTHER_SCOPE`, '{"a":1}'],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, "[]"],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, "{}"],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, '{"":1}'],
    ["POST", `${base}/${deviceId}/SHARED_SCOPE`, '{"a":1e99999}'],
    ["DELETE", `${base}/${deviceId}/SHARED_SCOPE`, undefined],
  ] as const) {
    t.is((await call(method, path, body)).status, 400, `${path} ${body}`);
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
  while (device.open.size === 0) await new Promise((resolve) => setImmediate(resolve));
  t.is((await call("POST", path, '{"c":{"b":null,"a":1}}')).status, 200);
  t.is(await (await poll).text(), '{"c":{"b":null,"a":1}}');
});

test("time series are read by range and as latest, as text or with their types", async (t) => {
  const { call, deviceId, platform } = t.context;
  const body =
    '[{"ts":1,"values":{"a":1,"b":"x"}},{"ts":2,"values":{"a":2.0}},{"ts":3,"values":{"a":{"n":1}}}]';
  await fetch(`${platform.url}/api/v1/${TOKEN}/telemetry`, { method: "POST", body });
  const base = `/api/plugins/telemetry/DEVICE/${deviceId}`;
  const read = async (query: string) => (await call("GET", `${base}/values/timeseries?${query}`)).text;
  t.is((await call("GET", `${base}/keys/timeseries`)).text, '["a","b"]');
  t.is(
    await read("keys=a,none&startTs=1&endTs=3&useStrictDataTypes=true"),
    '{"a":[{"ts":2,"value":2.0},{"ts":1,"value":1}]}',
  );
  t.is(
    await read("keys=a&startTs=0&endTs=9&orderBy=ASC&limit=2"),
    '{"a":[{"ts":1,"value":"1"},{"ts":2,"value":"2.0"}]}',
  );
  t.is(
    await read("keys=a,none&useStrictDataTypes=true"),
    `{"a":[{"ts":3,"value":{"n":1}}],"none":[{"ts":${START},"value":null}]}`,
  );
  t.is(
    await read("useStrictDataTypes=false"),
    '{"a":[{"ts":3,"value":"{\\"n\\":1}"}],"b":[{"ts":1,"value":"x"}]}',
  );
  t.is((await call("GET", `${base}/values/timeseries?keys=a&startTs=x&endTs=9`)).status, 400);
});

test("a device is active from its first request until it was silent for ten minutes", async (t) => {
  const { call, clock, deviceId, platform } = t.context;
  const info = async () => (await call("GET", "/api/tenant/deviceInfos?pageSize=10&page=0")).json.data[0];
  const server = async () =>
    (await call("GET", `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/SERVER_SCOPE`)).text;
  t.is((await info()).active, false);
  t.is(await server(), "[]");
  await fetch(`${platform.url}/api/v1/${TOKEN}/attributes`);
  t.deepEqual([(await info()).active, (await info()).deviceProfileName], [true, "default"]);
  t.is(
    await server(),
    `[{"lastUpdateTs":${START},"key":"active","value":true},{"lastUpdateTs":${START},"key":"lastActivityTime","value":${START}}]`,
  );
  await clock.advance(600_000);
  t.is((await info()).active, false);
  t.is(
    (
      await call(
        "GET",
        `/api/plugins/telemetry/DEVICE/${deviceId}/values/attributes/SERVER_SCOPE?keys=lastActivityTime`,
      )
    ).json[0].value,
    START,
  );
});

// Profiles, packages and claiming through the operator's REST.

test("creates, changes and deletes profiles with provisioning key and secret", async (t) => {
  const { call, platform } = t.context;
  const list = (await call("GET", "/api/deviceProfiles?pageSize=10&page=0")).json;
  t.deepEqual(
    list.data.map(({ name }: { name: string }) => name),
    ["default", "Mote"],
  );
  t.like(list.data[1], {
    provisionType: "ALLOW_CREATE_NEW_DEVICES",
    provisionDeviceKey: platform.profile.key,
    profileData: { provisionConfiguration: { provisionDeviceSecret: platform.profile.secret } },
  });
  const provisionConfiguration = { type: "CHECK_PRE_PROVISIONED_DEVICES", provisionDeviceSecret: "s" };
  const fields = { name: "p", provisionDeviceKey: "k", profileData: { provisionConfiguration } };
  const created = (await call("POST", "/api/deviceProfile", fields)).json;
  t.is(created.provisionType, "CHECK_PRE_PROVISIONED_DEVICES");
  t.is((await call("POST", "/api/deviceProfile", fields)).status, 400);
  const changed = (await call("POST", "/api/deviceProfile", { ...created, description: "x" })).json;
  t.like(changed, { id: created.id, description: "x", version: 2, provisionDeviceKey: "k" });
  const path = `/api/deviceProfile/${created.id.id}`;
  t.deepEqual((await call("GET", path)).json, changed);
  const member = { name: "m", deviceProfileId: created.id };
  await call("POST", "/api/device", member);
  t.is((await call("DELETE", path)).status, 400);
});

test("a package is created, gets its file, is assigned, taken away and deleted", async (t) => {
  const { call, platform, tenant, clock } = t.context;
  const profile = (await call("GET", "/api/deviceProfiles?pageSize=10&page=0&textSearch=mote")).json.data[0];
  const device = (
    await call("POST", "/api/device?accessToken=fw", { name: "fw", deviceProfileId: profile.id })
  ).json;
  const fields = { type: "FIRMWARE", title: "g", version: "2", deviceProfileId: profile.id, usesUrl: false };
  const created = (await call("POST", "/api/otaPackage", fields)).json;
  t.like(created, { hasData: false, title: "g", id: { entityType: "OTA_PACKAGE" } });
  t.is((await call("POST", "/api/otaPackage", fields)).status, 400);
  t.is((await call("GET", `/api/otaPackage/${created.id.id}`)).json.data, null);
  const path = `/api/otaPackage/${created.id.id}`;
  const upload = async (query: string, content = "hello", name = "file"): Promise<Response> => {
    const body = new FormData();
    body.set(name, new Blob([content]), "a b.bin");
    const headers = { "x-authorization": `Bearer ${tenant}` };
    return fetch(`${platform.url}${path}?${query}`, { method: "POST", headers, body });
  };
  t.is((await upload("checksumAlgorithm=NONE")).status, 400);
  t.is((await upload("checksumAlgorithm=CRC32&checksum=3610a686")).status, 400);
  t.is((await upload("checksumAlgorithm=CRC32", "hello", "data")).status, 400);
  t.is((await upload("checksumAlgorithm=CRC32", "")).status, 400);
  const done = await upload("checksumAlgorithm=CRC32");
  t.like(await done.json(), { hasData: true, checksum: "86a61036", dataSize: 5, fileName: "a b.bin" });
  t.is((await call("POST", `${path}?checksumAlgorithm=CRC32`, "{}")).status, 415);
  await call("POST", "/api/device", { ...device, firmwareId: created.id });
  clock.advance(10);
  const file = await fetch(`${platform.url}/api/v1/fw/firmware?title=g&version=2`);
  t.deepEqual([await file.text(), file.headers.get("x-filename")], ["hello", "a b.bin"]);
  t.is((await call("GET", `${path}/download`)).text, "hello");
  const info = (await call("GET", `/api/otaPackage/info/${created.id.id}`)).json;
  t.false("data" in info);
  t.deepEqual((await call("GET", path)).json, { ...info, data: "aGVsbG8=" });
  t.is((await call("DELETE", path)).status, 400);
  await call("POST", "/api/device", { ...device, firmwareId: null });
  t.is(await fetch(`${platform.url}/api/v1/fw/attributes`).then((response) => response.text()), "{}");
  t.is((await call("DELETE", path)).status, 200);
  t.is((await call("GET", path)).status, 404);
});

test("the request log is for the tenant's login alone", async (t) => {
  const { call, platform, customer } = t.context;
  await fetch(`${platform.url}/api/v1/${TOKEN}/telemetry`, { method: "POST", body: '{"a":1}' });
  t.is((await call("GET", "/api/requests", undefined, "")).status, 401);
  t.is((await call("GET", "/api/requests", undefined, customer)).status, 403);
  const { json } = await call("GET", "/api/requests");
  t.like(json[0], {
    method: "POST",
    path: "/api/v1/***/telemetry",
    device: "d",
    status: 200,
    body: '{"a":1}',
  });
});

// RPC through the operator's REST.

test("a two-way RPC is answered with the device's JSON, one-way with nothing", async (t) => {
  const { call, deviceId, platform } = t.context;
  const device = `${platform.url}/api/v1/${TOKEN}`;
  for (const [path, answer, status, text] of [
    [`/api/rpc/twoway/${deviceId}`, '{"on":true}', 200, '{"on":true}'],
    [`/api/plugins/rpc/twoway/${deviceId}`, "7", 200, "7"],
    [`/api/rpc/twoway/${deviceId}`, "not JSON", 406, ""],
  ] as const) {
    const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.json());
    const sent = call("POST", path, '{"method":"m","params":{"n":1.50}}');
    const { id, method, params } = (await poll) as { id: number; method: string; params: unknown };
    t.deepEqual([method, params], ["m", { n: 1.5 }]);
    await fetch(`${device}/rpc/${id}`, { method: "POST", body: answer });
    const result = await sent;
    t.deepEqual([result.status, result.text], [status, text]);
  }
  const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.text());
  const oneWay = await call("POST", `/api/rpc/oneway/${deviceId}`, { method: "m", params: null });
  t.deepEqual([oneWay.status, oneWay.text], [200, ""]);
  t.is(await poll, '{"id":3,"method":"m","params":null}');
});

test("numbers go to the device and back as Java writes them, and a blank answer is null", async (t) => {
  const { call, deviceId, platform } = t.context;
  const device = `${platform.url}/api/v1/${TOKEN}`;
  const ask = async (params: string, answer: string): Promise<string[]> => {
    const poll = fetch(`${device}/rpc?timeout=5000`).then((response) => response.text());
    const sent = call("POST", `/api/rpc/twoway/${deviceId}`, `{"method":"m","params":${params}}`);
    const got = await poll;
    await fetch(`${device}/rpc/${JSON.parse(got).id}`, { method: "POST", body: answer });
    return [got.slice(got.indexOf('"params":') + 9, -1), (await sent).text];
  };
  t.deepEqual(await ask("1e+21", '{"a":1.50,"b":1e3}'), ["1.0E21", '{"a":1.5,"b":1000.0}']);
  t.deepEqual(await ask('[9223372036854775808,-0,"1e3",null,true]', " "), [
    '[9223372036854775808,0,"1e3",null,true]',
    "null",
  ]);
  t.deepEqual(await ask('{"x":1e400}', '"text"'), ['{"x":"Infinity"}', '"text"']);
});

test("an undelivered RPC times out after at least 5 s with the API version's status", async (t) => {
  const { call, deviceId, clock, platform } = t.context;
  const device = platform.core.devices.get(deviceId)!;
  const send = async (base: string): Promise<number> => {
    const sent = call("POST", `${base}/${deviceId}`, { method: "m", params: {}, timeout: 100 });
    while (device.rpc.pending === 0) await new Promise((resolve) => setImmediate(resolve));
    clock.advance(4_999);
    t.is(device.rpc.pending, 1);
    clock.advance(1);
    return (await sent).status;
  };
  t.is(await send("/api/rpc/twoway"), 504);
  t.is(await send("/api/rpc/oneway"), 504);
  t.is(await send("/api/plugins/rpc/twoway"), 409);
  const poll = fetch(`${platform.url}/api/v1/${TOKEN}/rpc?timeout=1`);
  while (device.open.size === 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(1);
  await poll;
  t.is(await send("/api/plugins/rpc/twoway"), 408);
});

test("a persistent RPC leaves a record", async (t) => {
  const { call, deviceId, platform, clock } = t.context;
  const body = { method: "m", params: 5, persistent: true, expirationTime: clock.now() + 60_000 };
  const { rpcId } = (await call("POST", `/api/rpc/twoway/${deviceId}`, body)).json;
  const read = async () => (await call("GET", `/api/rpc/persistent/${rpcId}`)).json;
  t.like(await read(), {
    status: "QUEUED",
    response: null,
    request: { oneway: false, body: { method: "m", params: "5" } },
  });
  await fetch(`${platform.url}/api/v1/${TOKEN}/rpc?timeout=1000`);
  t.is((await read()).status, "DELIVERED");
  await fetch(`${platform.url}/api/v1/${TOKEN}/rpc/0`, { method: "POST", body: '{"done":true}' });
  t.like(await read(), { status: "SUCCESSFUL", response: { done: true } });
  const page = (
    await call("GET", `/api/rpc/persistent/device/${deviceId}?pageSize=10&page=0&rpcStatus=SUCCESSFUL`)
  ).json;
  t.is(page.totalElements, 1);
  t.is((await call("DELETE", `/api/rpc/persistent/${rpcId}`)).status, 200);
  t.is((await call("GET", `/api/rpc/persistent/${rpcId}`)).status, 404);
});

test("a malformed RPC is a 400", async (t) => {
  const { call, deviceId } = t.context;
  for (const body of [
    "{",
    "[]",
    "{}",
    '{"method":5}',
    '{"method":"m","timeout":"soon"}',
    '{"method":"m","expirationTime":1.5}',
  ]) {
    t.is((await call("POST", `/api/rpc/oneway/${deviceId}`, body)).status, 400, body);
  }
  t.is((await call("POST", `/api/rpc/oneway/${UNKNOWN}`, { method: "m" })).status, 404);
});

// What an operator's script does on the real paths, one by one.

type Call = Context["call"];

const provision = async ({ platform }: Context, body: object): Promise<{ status: string }> => {
  const init = { method: "POST", body: JSON.stringify(body) };
  return (await (await fetch(`${platform.url}/api/v1/provision`, init)).json()) as { status: string };
};

const createProfile = async (call: Call, type: string): Promise<Record<string, unknown> & { id: object }> => {
  const provisionConfiguration = { type, provisionDeviceSecret: `${type}-secret` };
  const profileData = { configuration: { type: "DEFAULT" }, provisionConfiguration };
  const body = { name: type, type: "DEFAULT", provisionType: type, provisionDeviceKey: type, profileData };
  return (await call("POST", "/api/deviceProfile", body)).json;
};

async function createPackage(context: Context, profileId: object, algorithm: string, bytes: string) {
  const { call, platform, tenant } = context;
  const fields = { type: "FIRMWARE", title: "g", version: algorithm, deviceProfileId: profileId };
  const { id } = (await call("POST", "/api/otaPackage", { ...fields, usesUrl: false })).json;
  const body = new FormData();
  body.set("file", new Blob([bytes]), "g.bin");
  const headers = { "x-authorization": `Bearer ${tenant}` };
  const url = `${platform.url}/api/otaPackage/${id.id}?checksumAlgorithm=${algorithm}`;
  return (await (await fetch(url, { method: "POST", headers, body })).json()) as Record<string, unknown>;
}

const attributes = ({ platform }: Context, token: string): Promise<Record<string, Record<string, unknown>>> =>
  fetch(`${platform.url}/api/v1/${token}/attributes`).then((response) => response.json() as never);

test("profiles of the three strategies do what they say to a device that provisions itself", async (t) => {
  const { call } = t.context;
  const asked = (type: string, deviceName: string) =>
    provision(t.context, {
      deviceName,
      provisionDeviceKey: type,
      provisionDeviceSecret: `${type}-secret`,
    });
  for (const type of ["DISABLED", "ALLOW_CREATE_NEW_DEVICES", "CHECK_PRE_PROVISIONED_DEVICES"]) {
    const profile = await createProfile(call, type);
    t.is((profile.provisionType as string) ?? "", type);
    const before = { name: `${type}-known`, deviceProfileId: profile.id };
    t.is((await call("POST", `/api/device?accessToken=${type}-token`, before)).status, 200);
  }
  t.is((await asked("DISABLED", "DISABLED-known")).status, "NOT_FOUND");
  t.is((await asked("ALLOW_CREATE_NEW_DEVICES", "new")).status, "SUCCESS");
  t.is((await asked("ALLOW_CREATE_NEW_DEVICES", "ALLOW_CREATE_NEW_DEVICES-known")).status, "FAILURE");
  t.is((await asked("CHECK_PRE_PROVISIONED_DEVICES", "another")).status, "FAILURE");
  const checked = "CHECK_PRE_PROVISIONED_DEVICES";
  t.like(await asked(checked, `${checked}-known`), {
    status: "SUCCESS",
    credentialsValue: `${checked}-token`,
  });
  t.is((await asked(checked, `${checked}-known`)).status, "FAILURE");
  t.is((await call("GET", "/api/tenant/devices?deviceName=new")).json.type, "ALLOW_CREATE_NEW_DEVICES");
});

test("a profile's firmware reaches its present and new devices until it is unassigned", async (t) => {
  const { call, clock } = t.context;
  const profile = await createProfile(call, "ALLOW_CREATE_NEW_DEVICES");
  await call("POST", "/api/device?accessToken=old", { name: "old", deviceProfileId: profile.id });
  const { id } = await createPackage(t.context, profile.id, "MD5", "hello");
  const saved = (await call("POST", "/api/deviceProfile", { ...profile, firmwareId: id })).json;
  t.deepEqual(saved.firmwareId, id);
  await call("POST", "/api/device?accessToken=new", { name: "new", deviceProfileId: profile.id });
  clock.advance(2_000);
  for (const token of ["old", "new"]) {
    const { shared } = await attributes(t.context, token);
    t.like(shared, { fw_title: "g", fw_version: "MD5", fw_size: 5, fw_checksum_algorithm: "MD5" }, token);
  }
  await call("POST", "/api/deviceProfile", { ...saved, firmwareId: null });
  clock.advance(2_000);
  t.deepEqual(await attributes(t.context, "old"), {});
});

test("a claimed device is its customer's, and can be claimed again once it was taken back", async (t) => {
  const { call, customer, platform, deviceId } = t.context;
  const open = (secretKey: string) =>
    fetch(`${platform.url}/api/v1/${TOKEN}/claim`, { method: "POST", body: JSON.stringify({ secretKey }) });
  const claim = (secretKey: string) => call("POST", "/api/customer/device/d/claim", { secretKey }, customer);
  for (const secret of ["first", "second"]) {
    await open(secret);
    t.is((await claim(secret)).json.response, "SUCCESS", secret);
    t.is((await call("GET", `/api/device/${deviceId}`, undefined, customer)).status, 200);
    t.is((await claim(secret)).text, '"CLAIMED"');
    t.is((await call("DELETE", "/api/customer/device/d/claim")).status, 200);
    t.is((await call("GET", `/api/device/${deviceId}`, undefined, customer)).status, 403);
  }
});

test("aggregates time series with MIN, MAX, AVG, SUM, COUNT and NONE", async (t) => {
  const { platform, call, deviceId } = t.context;
  const { series } = platform.core.devices.get(deviceId)!;
  for (const [ts, value] of [
    [1_000, 1n],
    [2_000, 2n],
    [3_000, 6n],
    [6_000, 10n],
  ] as const)
    series.save("t", ts, value);
  const read = async (more: string): Promise<[number, number][]> => {
    const query = `keys=t&startTs=0&endTs=10000&useStrictDataTypes=true&${more}`;
    const { json } = await call(
      "GET",
      `/api/plugins/telemetry/DEVICE/${deviceId}/values/timeseries?${query}`,
    );
    return (json.t as { ts: number; value: number }[]).map(({ ts, value }) => [ts, value]);
  };
  for (const [agg, first] of [
    ["MIN", 1],
    ["MAX", 6],
    ["AVG", 3],
    ["SUM", 9],
    ["COUNT", 3],
  ] as const) {
    const second = agg === "COUNT" ? 1 : 10;
    const found = await read(`agg=${agg}&interval=5000`);
    t.deepEqual(
      found.sort(([one], [other]) => one - other),
      [
        [2_500, first],
        [7_500, second],
      ],
      agg,
    );
  }
  t.deepEqual(await read("agg=NONE&limit=2&orderBy=ASC"), [
    [1_000, 1],
    [2_000, 2],
  ]);
  t.deepEqual(await read("agg=NONE&limit=2&orderBy=DESC"), [
    [6_000, 10],
    [3_000, 6],
  ]);
});

// Queries over devices, in the shapes of the real server's entity data query.

const field = (key: string) => ({ type: "ENTITY_FIELD", key });
const active = { type: "SERVER_ATTRIBUTE", key: "active" };
const state = { type: "TIME_SERIES", key: "fw_state" };

function query(more: object = {}, link: object = {}): object {
  return {
    entityFilter: { type: "entityType", entityType: "DEVICE" },
    pageLink: { pageSize: 10, page: 0, sortOrder: { key: field("name"), direction: "ASC" }, ...link },
    entityFields: [field("name"), field("type")],
    latestValues: [active, state],
    ...more,
  };
}

function filter(key: object, type: string, operation: string, defaultValue: unknown, ignoreCase = false) {
  return { key, valueType: type, predicate: { type, operation, value: { defaultValue }, ignoreCase } };
}

test("devices are sorted, filtered and paged with their latest values", async (t) => {
  const { call, platform, deviceId } = t.context;
  const find = async (body: object) => (await call("POST", "/api/entitiesQuery/find", body)).json;
  const names = async (body: object): Promise<string[]> =>
    (await find(body)).data.map(
      (one: { latest: Record<string, Record<string, { value: string }>> }) =>
        one.latest.ENTITY_FIELD?.name?.value,
    );
  for (const name of ["Pump-2", "pump-1", "valve"])
    await call("POST", `/api/device?accessToken=token-${name}`, { name });
  await fetch(`${platform.url}/api/v1/token-pump-1/telemetry`, {
    method: "POST",
    body: JSON.stringify({ fw_state: "FAILED", level: 5 }),
  });

  const all = await find(query());
  t.like(all, { totalElements: 4, totalPages: 1, hasNext: false });
  t.deepEqual(all.data[0].entityId, { entityType: "DEVICE", id: deviceId });
  t.like(all.data[0].latest, {
    ENTITY_FIELD: { name: { value: "d" }, type: { value: "default" } },
    SERVER_ATTRIBUTE: { active: { value: "false" } },
    TIME_SERIES: { fw_state: { ts: 0, value: "" } },
  });
  t.deepEqual(await names(query()), ["d", "pump-1", "Pump-2", "valve"]);
  t.deepEqual(await names(query({}, { sortOrder: { key: active, direction: "DESC" } })), [
    "pump-1",
    "d",
    "Pump-2",
    "valve",
  ]);
  t.deepEqual(await names(query({}, { pageSize: 3, page: 1 })), ["valve"]);
  t.true((await find(query({}, { pageSize: 3 }))).hasNext);
  t.deepEqual(await names(query({ keyFilters: [filter(active, "BOOLEAN", "EQUAL", true)] })), ["pump-1"]);
  t.deepEqual(await names(query({ keyFilters: [filter(active, "BOOLEAN", "EQUAL", false)] })), [
    "d",
    "Pump-2",
    "valve",
  ]);
  t.deepEqual(
    await names(query({ keyFilters: [filter(field("name"), "STRING", "CONTAINS", "PUMP", true)] })),
    ["pump-1", "Pump-2"],
  );
  t.deepEqual(await names(query({ keyFilters: [filter(field("name"), "STRING", "CONTAINS", "PUMP")] })), []);
  t.deepEqual(
    await names(
      query({ keyFilters: [filter({ type: "TIME_SERIES", key: "level" }, "NUMERIC", "GREATER", 4)] }),
    ),
    ["pump-1"],
  );
  t.deepEqual(await names(query({}, { textSearch: "fail" })), ["pump-1"]);
  t.deepEqual(
    await names(
      query({ entityFilter: { type: "entityList", entityType: "DEVICE", entityList: [deviceId] } }),
    ),
    ["d"],
  );
  t.deepEqual(
    await names(
      query({ entityFilter: { type: "deviceType", deviceTypes: ["default"], deviceNameFilter: "v" } }),
    ),
    ["valve"],
  );
});

test("a customer finds their own devices only, and what is no query is refused", async (t) => {
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

// The stream of events for consoles: who may listen for how long, and who does not read.

interface Stream {
  response: IncomingMessage;
  ended: Promise<void>;
}

async function start(
  t: ExecutionContext,
): Promise<{ platform: Platform; clock: VirtualClock; token: string }> {
  const clock = new VirtualClock();
  const platform = await startPlatform({ port: 0, clock });
  t.teardown(() => platform.close());
  const login = await fetch(`${platform.url}/api/auth/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "tenant@thingsboard.org", password: "tenant" }),
  });
  return { platform, clock, token: ((await login.json()) as { token: string }).token };
}

/** Not read until the test does. */
function listen({ address }: Platform, token: string): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const headers = { "x-authorization": `Bearer ${token}` };
    ask({ ...address, path: "/api/console/events", headers, agent: false }, (response) => {
      const ended = new Promise<void>((done) => {
        response.on("error", () => done());
        response.on("close", () => done());
      });
      resolve({ response, ended });
    })
      .on("error", reject)
      .end();
  });
}

plainTest("a stream outlives its token by no more than a beat", async (t) => {
  t.timeout(20_000);
  const { platform, clock, token } = await start(t);
  const { response, ended } = await listen(platform, token);
  response.resume();
  let open = true;
  void ended.then(() => {
    open = false;
  });
  clock.advance(8_999_000);
  t.is((await fetch(platform.url)).status, 200);
  t.true(open);
  clock.advance(16_000);
  await ended;
  t.false(open);
});

plainTest("who reads nothing is cut off before much is kept for them, and others go on", async (t) => {
  const { platform, token } = await start(t);
  const silent = await listen(platform, token);
  const good = await listen(platform, token);
  let read = 0;
  good.response.on("data", (piece: Buffer) => {
    read += piece.length;
  });
  const values = [["note", "x".repeat(100_000)]] as const;
  const sentBytes = 40_000_000;
  for (let sent = 100_000; sent <= sentBytes; sent += 100_000) {
    platform.core.feed.tell({ kind: "telemetry", deviceId: "d", ts: 1, values });
    while (read < sent && !good.response.destroyed) await new Promise((resolve) => setImmediate(resolve));
  }
  t.false(good.response.destroyed);
  good.response.destroy();
  let late = 0;
  const all = new Promise<void>((resolve) => {
    silent.response.on("data", (piece: Buffer) => {
      late += piece.length;
      if (late >= sentBytes) resolve();
    });
  });
  await Promise.race([silent.ended, all]);
  t.log(`${late} of ${sentBytes} bytes were kept`);
  t.true(late < sentBytes / 2);
});
