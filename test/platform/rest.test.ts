// The operator's REST: paths, shapes and errors as on the real platform.
import anyTest, { type TestFn } from "ava";
import { type Platform, startPlatform } from "../../hosts/platform/server.js";
import { START, VirtualClock } from "./rig.js";

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
const TOKEN = "the-device-token";
const NIL = "13814000-1dd2-11b2-8080-808080808080";
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
  const login = async (name: string): Promise<string> =>
    (await call("POST", "/api/auth/login", { username: `${name}@thingsboard.org`, password: name }, "")).json
      .token;
  t.context.tenant = await login("tenant");
  t.context.customer = await login("customer");
  const created = await call("POST", `/api/device?accessToken=${TOKEN}`, { name: "d", type: "default" });
  t.context.deviceId = created.json.id.id;
});

test.afterEach.always((t) => t.context.platform.close());

test("a wrong password, no token, a foreign one and an expired one are refused in the real shape", async (t) => {
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
  clock.advance(9_000_000);
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

test("unknown and malformed ids, unknown paths and missing pages are told apart", async (t) => {
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
  t.is(await read("?keys=c"), `[{"lastUpdateTs":${START},"key":"c","value":{}}]`);
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

test("an RPC that nobody takes ends by the time given, 5 s at least, with the API version's status", async (t) => {
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

test("profiles carry their provisioning key and secret, and are created, changed and deleted", async (t) => {
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
  t.is((await call("DELETE", path)).status, 400);
  await call("POST", "/api/device", { ...device, firmwareId: null });
  t.is(await fetch(`${platform.url}/api/v1/fw/attributes`).then((response) => response.text()), "{}");
  t.is((await call("DELETE", path)).status, 200);
  t.is((await call("GET", path)).status, 404);
});

test("the customer claims a device by name, and the tenant takes it back", async (t) => {
  const { call, customer, platform, deviceId } = t.context;
  const path = "/api/customer/device/d/claim";
  const open = () =>
    fetch(`${platform.url}/api/v1/${TOKEN}/claim`, { method: "POST", body: '{"secretKey":"s"}' });
  const early = await call("POST", path, { secretKey: "s" }, customer);
  t.deepEqual([early.status, early.text], [400, '"FAILURE"']);
  await open();
  const won = await call("POST", path, { secretKey: "s" }, customer);
  t.is(won.json.response, "SUCCESS");
  t.is((await call("POST", path, { secretKey: "s" }, customer)).text, '"CLAIMED"');
  const owned = await call("GET", `/api/device/${deviceId}`, undefined, customer);
  t.is(owned.json.customerId.id, won.json.device.customerId.id);
  t.is((await call("POST", path, { secretKey: "s" })).status, 403);
  t.is((await call("POST", "/api/customer/device/none/claim", {}, customer)).status, 404);
  t.is((await call("DELETE", path)).status, 200);
  t.is((await call("GET", `/api/device/${deviceId}`)).json.customerId.id, NIL);
});

test("the request log needs no login", async (t) => {
  const { call, platform } = t.context;
  await fetch(`${platform.url}/api/v1/${TOKEN}/telemetry`, { method: "POST", body: '{"a":1}' });
  const { json } = await call("GET", "/api/requests", undefined, "");
  t.like(json[0], {
    method: "POST",
    path: "/api/v1/***/telemetry",
    device: "d",
    status: 200,
    body: '{"a":1}',
  });
});
