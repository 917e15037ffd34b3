// Profiles, packages and claiming through the operator's REST.
import { NIL, TOKEN, test } from "./rest-rig.js";

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

test("a file that is no multipart body is refused, and no fault of the local platform's", async (t) => {
  const { call, platform, tenant } = t.context;
  const created = (await call("POST", "/api/otaPackage", { type: "FIRMWARE", title: "g", version: "3" }))
    .json;
  const path = `${platform.url}/api/otaPackage/${created.id.id}?checksumAlgorithm=CRC32`;
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n';
  for (const [type, body] of [
    ["multipart/form-data", "x"],
    ["multipart/form-data; boundary=b", "x"],
    ["multipart/form-data; boundary=b", `${part}cut`],
    ["multipart/form-data; boundary=b", ""],
  ] as const) {
    const headers = { "x-authorization": `Bearer ${tenant}`, "content-type": type };
    const answer = await fetch(path, { method: "POST", headers, body });
    t.is(answer.status, 400, `${type} ${body}`);
  }
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
