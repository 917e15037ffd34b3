import test from "ava";
import nock from "nock";
import { json, loggedIn } from "./logged-in.js";

const entry =
  '{"id":{"entityType":"OTA_PACKAGE","id":"o-1"},"type":"FIRMWARE","title":"desk","version":"2.0.0","hasData":true,' +
  '"checksumAlgorithm":"SHA256","checksum":"2cf24dba","dataSize":5}';

nock.disableNetConnect();
test.afterEach.always(() => nock.cleanAll());

test.serial("a package is created for a profile", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .post(
      "/api/otaPackage",
      '{"title":"desk","version":"2.0.0","type":"FIRMWARE","deviceProfileId":{"entityType":"DEVICE_PROFILE","id":"p-1"},"usesUrl":false}',
    )
    .reply(200, entry, json);
  const made = await operator.ota.create({ title: "desk", version: "2.0.0", deviceProfileId: "p-1" });
  t.is(made.id.id, "o-1");
});

test.serial("a package's bytes are uploaded as one multipart file", async (t) => {
  const { operator, platform } = await loggedIn();
  let sent = "";
  platform
    .matchHeader("content-type", /^multipart\/form-data; boundary=/)
    .post(
      "/api/otaPackage/o-1?checksumAlgorithm=MD5&checksum=5d41402abc4b2a76b9719d911017c592",
      (body: string) => {
        sent = body;
        return true;
      },
    )
    .reply(200, entry, json);
  const options = {
    fileName: "desk.mjs",
    algorithm: "MD5",
    checksum: "5d41402abc4b2a76b9719d911017c592",
  } as const;
  const stored = await operator.ota.upload("o-1", new TextEncoder().encode("hello"), options);
  t.is(stored.dataSize, 5);
  t.regex(
    sent,
    /^--\S+\r\nContent-Disposition: form-data; name="file"; filename="desk\.mjs"\r\nContent-Type: application\/octet-stream\r\n\r\nhello\r\n--\S+--\r\n$/,
  );
});

test.serial("a package is assigned to a device without losing what else the device holds", async (t) => {
  const { operator, platform } = await loggedIn();
  const before = '{"id":{"entityType":"DEVICE","id":"d-1"},"name":"desk","label":"kept","firmwareId":null}';
  platform.get("/api/device/d-1").reply(200, before, json);
  platform
    .post(
      "/api/device",
      '{"id":{"entityType":"DEVICE","id":"d-1"},"name":"desk","label":"kept","firmwareId":{"entityType":"OTA_PACKAGE","id":"o-1"}}',
    )
    .reply(200, before, json);
  await operator.ota.assign("d-1", "o-1");
  t.true(platform.isDone());
});

test.serial("an assignment is taken away with null", async (t) => {
  const { operator, platform } = await loggedIn();
  const before = '{"name":"desk","firmwareId":{"entityType":"OTA_PACKAGE","id":"o-1"}}';
  platform.get("/api/device/d-1").reply(200, before, json);
  platform.post("/api/device", '{"name":"desk","firmwareId":null}').reply(200, before, json);
  await operator.ota.assign("d-1", undefined);
  t.true(platform.isDone());
});

test.serial("a package is assigned to a profile", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.get("/api/deviceProfile/p-1").reply(200, '{"name":"default"}', json);
  platform
    .post("/api/deviceProfile", '{"name":"default","firmwareId":{"entityType":"OTA_PACKAGE","id":"o-1"}}')
    .reply(200, "{}", json);
  await operator.ota.assignToProfile("p-1", "o-1");
  t.true(platform.isDone());
});

test.serial("packages are read, listed and deleted", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.get("/api/otaPackage/info/o-1").reply(200, entry, json);
  t.is((await operator.ota.get("o-1")).version, "2.0.0");
  platform
    .get("/api/otaPackages?pageSize=100&page=0&textSearch=desk")
    .reply(200, `{"data":[${entry}],"totalPages":1,"totalElements":1,"hasNext":false}`, json);
  t.is((await operator.ota.list({ textSearch: "desk" })).data.length, 1);
  platform.delete("/api/otaPackage/o-1").reply(200);
  await operator.ota.delete("o-1");
  t.true(platform.isDone());
});

test.serial(
  "a package on an external host is created with its address and what is known of it",
  async (t) => {
    const { operator, platform } = await loggedIn();
    platform
      .post(
        "/api/otaPackage",
        '{"title":"desk","version":"2.0.0","type":"FIRMWARE","deviceProfileId":{"entityType":"DEVICE_PROFILE","id":"p-1"},' +
          '"usesUrl":true,"url":"https://files.test/2.bin","dataSize":9}',
      )
      .reply(200, entry, json);
    const externalFile = { url: "https://files.test/2.bin", dataSize: 9 };
    await operator.ota.create({ title: "desk", version: "2.0.0", deviceProfileId: "p-1", externalFile });
    t.true(platform.isDone());
  },
);
