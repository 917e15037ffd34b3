// What an operator's script does on the real paths, one by one.
import { ALGORITHMS, checksum } from "../../../../tools/platform/core/ota/checksum.js";
import { type Context, TOKEN, test } from "./rest-rig.js";

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

test("a profile's default firmware reaches its devices, new ones too, until it is taken away", async (t) => {
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

test("each of the seven algorithms is computed at the upload and sent to the device", async (t) => {
  const { call, clock } = t.context;
  const profile = await createProfile(call, "DISABLED");
  const fields = { name: "fw", deviceProfileId: profile.id };
  const device = (await call("POST", "/api/device?accessToken=fw", fields)).json;
  for (const algorithm of ALGORITHMS) {
    const expected = checksum(algorithm, Buffer.from("hello"));
    const uploaded = await createPackage(t.context, profile.id, algorithm, "hello");
    t.like(uploaded, { checksumAlgorithm: algorithm, checksum: expected, dataSize: 5, hasData: true });
    await call("POST", "/api/device", { ...device, firmwareId: uploaded.id });
    clock.advance(2_000);
    const { shared } = await attributes(t.context, "fw");
    t.like(shared, { fw_checksum_algorithm: algorithm, fw_checksum: expected });
  }
});

test("a package elsewhere gives the device its address, and has no file here", async (t) => {
  const { call, clock, platform } = t.context;
  const profile = await createProfile(call, "DISABLED");
  const fields = { name: "fw", deviceProfileId: profile.id };
  const device = (await call("POST", "/api/device?accessToken=fw", fields)).json;
  const url = "https://files.example/2.bin";
  const entry = { title: "g", version: "2", type: "FIRMWARE", deviceProfileId: profile.id, dataSize: 9 };
  t.is((await call("POST", "/api/otaPackage", { ...entry, usesUrl: true })).status, 400);
  const created = (await call("POST", "/api/otaPackage", { ...entry, usesUrl: true, url })).json;
  t.like(created, { url, hasData: true, dataSize: 9, checksum: null });
  await call("POST", "/api/device", { ...device, firmwareId: created.id });
  clock.advance(2_000);
  t.deepEqual((await attributes(t.context, "fw")).shared, {
    fw_title: "g",
    fw_version: "2",
    fw_url: url,
    fw_size: 9,
  });
  const file = await fetch(`${platform.url}/api/v1/fw/firmware?title=g&version=2`);
  t.deepEqual([file.status, await file.text()], [404, ""]);
});

test("devices are paged, and gone with all they had once they are deleted", async (t) => {
  const { call, deviceId, platform } = t.context;
  for (let index = 0; index < 4; index++) await call("POST", "/api/device", { name: `more-${index}` });
  const page = async (number: number) =>
    (await call("GET", `/api/tenant/devices?pageSize=2&page=${number}`)).json;
  t.like(await page(0), { totalPages: 3, totalElements: 5, hasNext: true });
  const last = await page(2);
  t.deepEqual([last.data.length, last.hasNext], [1, false]);
  t.is((await call("DELETE", `/api/device/${deviceId}`)).status, 200);
  t.is((await call("GET", "/api/tenant/devices?deviceName=d")).status, 404);
  t.is((await fetch(`${platform.url}/api/v1/${TOKEN}/attributes`)).status, 401);
});

test("an attribute of each scope is read by it and deleted, by both forms of the path", async (t) => {
  const { call, deviceId, platform } = t.context;
  const base = "/api/plugins/telemetry";
  await fetch(`${platform.url}/api/v1/${TOKEN}/attributes`, { method: "POST", body: '{"k":"client"}' });
  await call("POST", `${base}/${deviceId}/SERVER_SCOPE`, '{"k":"server"}');
  await call("POST", `${base}/DEVICE/${deviceId}/attributes/SHARED_SCOPE`, '{"k":"shared"}');
  const read = async (scope: string) =>
    (await call("GET", `${base}/DEVICE/${deviceId}/values/attributes/${scope}?keys=k`)).json;
  for (const scope of ["CLIENT", "SERVER", "SHARED"])
    t.is((await read(`${scope}_SCOPE`))[0].value, scope.toLowerCase());
  const all = (await call("GET", `${base}/DEVICE/${deviceId}/values/attributes`)).json;
  t.deepEqual(
    all.map(({ key }: { key: string }) => key),
    ["k", "k", "k", "active", "lastActivityTime"],
  );
  await call("DELETE", `${base}/${deviceId}/CLIENT_SCOPE?keys=k`);
  await call("DELETE", `${base}/DEVICE/${deviceId}/SERVER_SCOPE?keys=k`);
  t.deepEqual([await read("CLIENT_SCOPE"), await read("SERVER_SCOPE")], [[], []]);
  t.is((await read("SHARED_SCOPE")).length, 1);
});

test("a persistent RPC that nobody fetches until its expirationTime is EXPIRED, and not delivered after it", async (t) => {
  const { call, deviceId, platform, clock } = t.context;
  const expirationTime = clock.now() + 60_000;
  const ids: string[] = [];
  for (const way of ["oneway", "twoway"]) {
    const body = { method: way, params: {}, persistent: true, expirationTime };
    ids.push((await call("POST", `/api/rpc/${way}/${deviceId}`, body)).json.rpcId);
  }
  const states = async () =>
    Promise.all(ids.map(async (id) => (await call("GET", `/api/rpc/persistent/${id}`)).json.status));
  clock.advance(59_999);
  t.deepEqual(await states(), ["QUEUED", "QUEUED"]);
  clock.advance(1);
  t.deepEqual(await states(), ["EXPIRED", "EXPIRED"]);
  t.is(platform.core.devices.get(deviceId)?.rpc.pending, 0);
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

test("a login ends after 2.5 hours, and its refresh token gives a new one until a week has passed", async (t) => {
  const { call, clock } = t.context;
  const login = { username: "tenant@thingsboard.org", password: "tenant" };
  const { token, refreshToken } = (await call("POST", "/api/auth/login", login, "")).json;
  clock.advance(8_999_000);
  t.is((await call("GET", "/api/auth/user", undefined, token)).json.authority, "TENANT_ADMIN");
  clock.advance(1_000);
  t.like((await call("GET", "/api/auth/user", undefined, token)).json, { status: 401, errorCode: 11 });
  const renewed = (await call("POST", "/api/auth/token", { refreshToken }, "")).json;
  t.is((await call("GET", "/api/auth/user", undefined, renewed.token)).status, 200);
  clock.advance(604_800_000);
  t.is((await call("POST", "/api/auth/token", { refreshToken }, "")).status, 401);
});

test("a method that a path does not have is a 405 with those it has, in the real shape", async (t) => {
  const { call, platform, tenant, deviceId, clock } = t.context;
  for (const [method, path, allow] of [
    ["PUT", "/api/device", "POST"],
    ["PATCH", `/api/device/${deviceId}`, "DELETE,GET,HEAD"],
    ["DELETE", "/api/tenant/devices", "GET,HEAD"],
    ["PUT", "/api/otaPackage/x", "DELETE,GET,HEAD,POST"],
  ] as const) {
    const headers = { "x-authorization": `Bearer ${tenant}` };
    const answer = await fetch(platform.url + path, { method, headers });
    t.deepEqual([answer.status, answer.headers.get("allow")], [405, allow], path);
    const message = `Request method '${method}' is not supported`;
    const expected = { message, errorCode: 31, status: 405, timestamp: clock.now() };
    t.is(await answer.text(), JSON.stringify(expected));
  }
  t.is((await call("PUT", "/api/nothing")).status, 404);
  t.is((await call("PUT", "/api/device", undefined, "")).status, 401);
});
