// Queries over devices, in the shapes of the real server's entity data query.
import { test } from "./rest-rig.js";

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
