// Login, devices and credentials of the operator's REST: paths, shapes and errors as on the real platform.

import { START } from "../rig.js";
import { NIL, TOKEN, test, UNKNOWN } from "./rest-rig.js";

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
