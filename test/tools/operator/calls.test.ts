import test from "ava";
import nock from "nock";
import { OperatorError } from "../../../tools/operator/error.js";
import { json, loggedIn } from "./logged-in.js";

const device =
  '{"id":{"entityType":"DEVICE","id":"d-1"},"createdTime":1760000000000,"name":"desk 1","type":"default","label":"kept",' +
  '"deviceProfileId":{"entityType":"DEVICE_PROFILE","id":"p-1"},"firmwareId":null}';
const page = `{"data":[${device}],"totalPages":1,"totalElements":1,"hasNext":false}`;

nock.disableNetConnect();
test.afterEach.always(() => nock.cleanAll());

test.serial("a device is found by its name, escaped, and an unknown name is no error", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.get("/api/tenant/devices?deviceName=desk+1").reply(200, device, json);
  t.is((await operator.devices.byName("desk 1"))?.id.id, "d-1");
  platform
    .get("/api/tenant/devices?deviceName=none")
    .reply(404, '{"message":"Requested item wasn\'t found!"}', json);
  t.is(await operator.devices.byName("none"), undefined);
});

test.serial("devices are listed by the page", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.get("/api/tenant/devices?pageSize=100&page=0").reply(200, page, json);
  t.is((await operator.devices.list()).data[0]?.name, "desk 1");
  platform.get("/api/tenant/devices?pageSize=5&page=2&textSearch=desk").reply(200, page, json);
  t.false((await operator.devices.list({ pageSize: 5, page: 2, textSearch: "desk" })).hasNext);
});

test.serial("a whole number that JavaScript would round is read to its last digit", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .get("/api/plugins/telemetry/DEVICE/d-1/values/attributes/SHARED_SCOPE")
    .reply(200, '[{"lastUpdateTs":1,"key":"serial","value":9007199254740993}]', json);
  t.deepEqual(await operator.attributes.get("d-1", "SHARED_SCOPE"), { serial: "9007199254740993" });
});

test.serial("a device is created with a token of one's own, which no error shows", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.post("/api/device?accessToken=SECRET", '{"name":"desk 1"}').reply(200, device, json);
  t.is((await operator.devices.create({ name: "desk 1" }, "SECRET")).name, "desk 1");
  platform.post("/api/device?accessToken=SECRET").reply(400, '{"message":"SECRET is in use"}', json);
  const error = await t.throwsAsync(() => operator.devices.create({ name: "desk 1" }, "SECRET"));
  t.is(error?.message, "POST /api/device: 400 *** is in use");
});

test.serial("a device is read, saved, deleted, and its credentials read", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.get("/api/device/d-1").reply(200, device, json);
  const read = await operator.devices.get("d-1");
  platform.post("/api/device", { ...JSON.parse(device), label: "new" }).reply(200, device, json);
  await operator.devices.save({ ...read, label: "new" });
  platform
    .get("/api/device/d-1/credentials")
    .reply(
      200,
      '{"id":{"id":"c-1"},"deviceId":{"entityType":"DEVICE","id":"d-1"},"credentialsType":"ACCESS_TOKEN","credentialsId":"T1"}',
      json,
    );
  t.is((await operator.devices.credentials("d-1")).credentialsId, "T1");
  platform.delete("/api/device/d-1").reply(200);
  await operator.devices.delete("d-1");
  t.true(platform.isDone());
});

test.serial("a device is claimed by its customer and taken back", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .post("/api/customer/device/desk%201/claim", '{"secretKey":"s1"}')
    .reply(200, '{"response":"SUCCESS"}', json);
  await operator.devices.claim("desk 1", "s1");
  platform.delete("/api/customer/device/desk%201/claim").reply(200, "");
  await operator.devices.reclaim("desk 1");
  platform.post("/api/customer/device/desk%201/claim").reply(400, '"FAILURE"', json);
  const error = await t.throwsAsync(() => operator.devices.claim("desk 1", "wrong"), {
    instanceOf: OperatorError,
  });
  t.is(error.status, 400);
});

test.serial("profiles are listed, read, saved and deleted", async (t) => {
  const { operator, platform } = await loggedIn();
  const profile = '{"id":{"entityType":"DEVICE_PROFILE","id":"p-1"},"name":"default","default":true}';
  platform
    .get("/api/deviceProfiles?pageSize=10&page=0")
    .reply(200, `{"data":[${profile}],"totalPages":1,"totalElements":1,"hasNext":false}`, json);
  t.true((await operator.profiles.list({ pageSize: 10 })).data[0]?.default);
  platform.get("/api/deviceProfile/p-1").reply(200, profile, json);
  t.is((await operator.profiles.get("p-1")).name, "default");
  platform.post("/api/deviceProfile", '{"name":"greenhouse","type":"DEFAULT"}').reply(200, profile, json);
  await operator.profiles.save({ name: "greenhouse", type: "DEFAULT" });
  platform.delete("/api/deviceProfile/p-1").reply(200);
  await operator.profiles.delete("p-1");
  t.true(platform.isDone());
});

test.serial("attributes are read by scope, all or by key", async (t) => {
  const { operator, platform } = await loggedIn();
  const list =
    '[{"lastUpdateTs":1760000000000,"key":"serial","value":"A-113"},{"lastUpdateTs":1,"key":"starts","value":2}]';
  platform.get("/api/plugins/telemetry/DEVICE/d-1/values/attributes/CLIENT_SCOPE").reply(200, list, json);
  t.deepEqual(await operator.attributes.get("d-1", "CLIENT_SCOPE"), { serial: "A-113", starts: 2 });
  platform
    .get("/api/plugins/telemetry/DEVICE/d-1/values/attributes/SHARED_SCOPE?keys=a%2Cb")
    .reply(200, "[]", json);
  t.deepEqual(await operator.attributes.get("d-1", "SHARED_SCOPE", ["a", "b"]), {});
});

test.serial("attributes are set and deleted", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.post("/api/plugins/telemetry/DEVICE/d-1/attributes/SHARED_SCOPE", '{"interval":2}').reply(200);
  await operator.attributes.set("d-1", "SHARED_SCOPE", { interval: 2 });
  platform.delete("/api/plugins/telemetry/DEVICE/d-1/SHARED_SCOPE?keys=interval%2Cmode").reply(200);
  await operator.attributes.delete("d-1", "SHARED_SCOPE", ["interval", "mode"]);
  t.true(platform.isDone());
});

test.serial("the latest readings come with their types, and a key without one is absent", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .get(
      "/api/plugins/telemetry/DEVICE/d-1/values/timeseries?keys=temperature%2Cnone&useStrictDataTypes=true",
    )
    .reply(
      200,
      '{"temperature":[{"ts":1760000000000,"value":21.5}],"none":[{"ts":1760000000001,"value":null}]}',
      json,
    );
  const latest = await operator.timeSeries.latest("d-1", ["temperature", "none"]);
  t.deepEqual(latest, { temperature: { ts: 1760000000000, value: 21.5 } });
});

test.serial("a range of a time series is asked for with its bounds", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .get(
      "/api/plugins/telemetry/DEVICE/d-1/values/timeseries?keys=t&startTs=1760000000000&endTs=1760000000002&limit=2&orderBy=ASC&useStrictDataTypes=true",
    )
    .reply(200, '{"t":[{"ts":1760000000000,"value":1},{"ts":1760000000001,"value":2}]}', json);
  const range = {
    keys: ["t"],
    startTs: 1760000000000,
    endTs: 1760000000002,
    limit: 2,
    orderBy: "ASC",
  } as const;
  t.deepEqual(
    (await operator.timeSeries.range("d-1", range)).t?.map(({ value }) => value),
    [1, 2],
  );
  platform.get("/api/plugins/telemetry/DEVICE/d-1/keys/timeseries").reply(200, '["t"]', json);
  t.deepEqual(await operator.timeSeries.keys("d-1"), ["t"]);
});

test.serial("a one-way RPC answers nothing, a two-way RPC what the device said", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.post("/api/rpc/oneway/d-1", '{"method":"setLed","params":{"on":true},"timeout":10000}').reply(200);
  t.is(await operator.rpc.oneWay("d-1", "setLed", { on: true }), undefined);
  platform
    .post("/api/rpc/twoway/d-1", '{"method":"getStatus","params":null,"timeout":7000}')
    .reply(200, '{"led":true}', json);
  t.deepEqual(await operator.rpc.twoWay("d-1", "getStatus", undefined, { timeoutMs: 7_000 }), { led: true });
});

test.serial("a device that does not answer a two-way RPC is a 504", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.post("/api/rpc/twoway/d-1").reply(504);
  const error = await t.throwsAsync(() => operator.rpc.twoWay("d-1", "getStatus"), {
    instanceOf: OperatorError,
  });
  t.is(error.status, 504);
});

test.serial("a persistent RPC gives its id, and its record is read by it", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .post(
      "/api/rpc/twoway/d-1",
      '{"method":"setLed","params":{"on":false},"persistent":true,"expirationTime":1760000000000}',
    )
    .reply(200, '{"rpcId":"r-1"}', json);
  const options = { expirationTime: 1760000000000 };
  t.is(await operator.rpc.persistent("d-1", "setLed", { on: false }, options), "r-1");
  platform
    .post("/api/rpc/oneway/d-1", '{"method":"setLed","params":1,"persistent":true}')
    .reply(200, '{"rpcId":"r-2"}', json);
  t.is(await operator.rpc.persistent("d-1", "setLed", 1, { twoWay: false }), "r-2");
  platform
    .get("/api/rpc/persistent/r-1")
    .reply(200, '{"id":{"entityType":"RPC","id":"r-1"},"status":"SUCCESSFUL","response":{"on":false}}', json);
  t.is((await operator.rpc.get("r-1")).status, "SUCCESSFUL");
});

test.serial("credentials are changed, and no error shows the token", async (t) => {
  const { operator, platform } = await loggedIn();
  const changed = { credentialsType: "ACCESS_TOKEN", credentialsId: "T2-secret" };
  platform
    .post("/api/device/credentials", '{"credentialsType":"ACCESS_TOKEN","credentialsId":"T2-secret"}')
    .reply(200, changed, json);
  t.is((await operator.devices.setCredentials(changed)).credentialsId, "T2-secret");
  platform.post("/api/device/credentials").reply(400, '{"message":"T2-secret is taken"}', json);
  const error = await t.throwsAsync(() => operator.devices.setCredentials(changed));
  t.regex(error.message, /\*\*\* is taken/);
});

test.serial("persistent RPCs are listed by status and taken back", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .get("/api/rpc/persistent/device/d-1?pageSize=100&page=0&rpcStatus=QUEUED")
    .reply(200, '{"data":[{"status":"QUEUED"}],"totalPages":1,"totalElements":1,"hasNext":false}', json);
  t.is((await operator.rpc.list("d-1", { rpcStatus: "QUEUED" })).data[0]?.status, "QUEUED");
  platform.delete("/api/rpc/persistent/r-1").reply(200);
  await operator.rpc.delete("r-1");
  t.true(platform.isDone());
});

test.serial("time series are deleted by their keys", async (t) => {
  const { operator, platform } = await loggedIn();
  platform
    .delete("/api/plugins/telemetry/DEVICE/d-1/timeseries/delete?keys=a%2Cb&deleteAllDataForKeys=true")
    .reply(200);
  await operator.timeSeries.delete("d-1", ["a", "b"]);
  t.true(platform.isDone());
});

test.serial(
  "devices are asked for with their latest values, in the words of the platform's query",
  async (t) => {
    const { operator, platform } = await loggedIn();
    const name = { type: "ENTITY_FIELD", key: "name" } as const;
    const active = { type: "SERVER_ATTRIBUTE", key: "active" } as const;
    const body = {
      entityFilter: { type: "entityType", entityType: "DEVICE" },
      pageLink: {
        ...{ pageSize: 25, page: 2, textSearch: null, dynamic: false },
        sortOrder: { key: name, direction: "ASC" },
      },
      ...{ entityFields: [name], latestValues: [active], keyFilters: [] },
    };
    const data = [
      {
        entityId: { entityType: "DEVICE", id: "d-1" },
        latest: { ENTITY_FIELD: { name: { ts: 1, value: "a" } } },
      },
    ];
    platform
      .post("/api/entitiesQuery/find", body)
      .reply(200, { data, totalPages: 3, totalElements: 51, hasNext: false }, json);
    const found = await operator.entities.devices({
      ...{ pageSize: 25, page: 2, sort: { key: name, direction: "ASC" } },
      ...{ entityFields: [name], latestValues: [active] },
    });
    t.is(found.totalElements, 51);
    t.is(found.data[0]?.latest.ENTITY_FIELD?.name?.value, "a");
  },
);

test.serial("packages that fit a profile are listed, and means of a range are asked for", async (t) => {
  const { operator, platform } = await loggedIn();
  platform.get("/api/otaPackages/p-1/FIRMWARE?pageSize=100&page=0").reply(200, page, json);
  t.is((await operator.ota.fitting("p-1")).data.length, 1);
  platform
    .get("/api/plugins/telemetry/DEVICE/d-1/values/timeseries")
    .query((query) => query.agg === "AVG" && query.interval === "5000")
    .reply(200, '{"a":[{"ts":1,"value":2.5}]}', json);
  const range = { keys: ["a"], startTs: 0, endTs: 10, meanMs: 5_000 };
  t.deepEqual(await operator.timeSeries.range("d-1", range), { a: [{ ts: 1, value: 2.5 }] });
});
