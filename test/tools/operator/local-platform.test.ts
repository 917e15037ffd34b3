// The operator's calls against the local platform itself, with a device played by hand.
import { createHash } from "node:crypto";
import test from "ava";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";

const TOKEN = "desk-token-1";
let platform: Platform;
let operator: Operator;

test.before(async () => {
  platform = await startPlatform({ port: 0 });
  operator = new Operator({ url: platform.url });
  await operator.login("tenant@thingsboard.org", "tenant");
});
test.after.always(() => platform.close());

/** A request of the device. */
async function device(token: string, method: string, path: string, body?: unknown): Promise<unknown> {
  const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
  const response = await fetch(`${platform.url}/api/v1/${token}/${path}`, init);
  const text = await response.text();
  return text === "" ? response.status : (JSON.parse(text) as unknown);
}

async function made(name: string, token = `${name}-token`): Promise<{ id: string; token: string }> {
  const { id } = await operator.devices.create({ name }, token);
  return { id: id.id, token };
}

test("a device is created, found, listed, saved and deleted", async (t) => {
  const { id } = await made("life");
  t.is((await operator.devices.byName("life"))?.id.id, id);
  t.is((await operator.devices.list({ textSearch: "life" })).totalElements, 1);
  t.is((await operator.devices.credentials(id)).credentialsId, "life-token");
  const saved = await operator.devices.save({ ...(await operator.devices.get(id)), label: "by hand" });
  t.is(saved.label, "by hand");
  await operator.devices.delete(id);
  t.is(await operator.devices.byName("life"), undefined);
  const error = await t.throwsAsync(() => operator.devices.get(id), { instanceOf: OperatorError });
  t.is(error.status, 404);
});

test("a device of 2,000 keys is read whole, as latest and as a range, and so is a key with a comma", async (t) => {
  const { id } = await made("keys", "keys-token");
  const keys = Array.from({ length: 2_000 }, (_, n) => `sensor-${n}-ü`);
  const values = Object.fromEntries([...keys, "a,b"].map((key, n) => [key, n]));
  t.is(await device("keys-token", "POST", "telemetry", { ts: 1_760_000_000_000, values }), 200);
  const all = await operator.timeSeries.latest(id);
  t.is(Object.keys(all).length, 2_001);
  t.is(all["a,b"]?.value, 2_000);
  t.is(Object.keys(await operator.timeSeries.latest(id, keys)).length, 2_000);
  const range = { keys, startTs: 1_760_000_000_000, endTs: 1_760_000_000_001 };
  const found = await operator.timeSeries.range(id, range);
  t.deepEqual(
    keys.map((key) => found[key]?.[0]?.value),
    keys.map((_, n) => n),
  );
  t.deepEqual(await operator.timeSeries.latest(id, []), {});
});

test("telemetry of a device is read as latest and as a range", async (t) => {
  const { id } = await made("series", TOKEN);
  const points = [
    { ts: 1_760_000_000_000, values: { temperature: 21.5 } },
    { ts: 1_760_000_001_000, values: { temperature: 22, note: "007" } },
  ];
  t.is(await device(TOKEN, "POST", "telemetry", points), 200);
  t.deepEqual(await operator.timeSeries.latest(id, ["temperature", "note", "absent"]), {
    temperature: { ts: 1_760_000_001_000, value: 22 },
    note: { ts: 1_760_000_001_000, value: 7 },
  });
  const range = { keys: ["temperature"], startTs: 1_760_000_000_000, endTs: 1_760_000_001_000 };
  t.deepEqual((await operator.timeSeries.range(id, range)).temperature, [
    { ts: 1_760_000_000_000, value: 21.5 },
  ]);
  t.deepEqual((await operator.timeSeries.keys(id)).sort(), ["note", "temperature"]);
});

test("attributes are written, read and deleted by scope", async (t) => {
  const { id, token } = await made("attributes");
  await operator.attributes.set(id, "SHARED_SCOPE", { interval: 2, mode: "day" });
  await device(token, "POST", "attributes", { serial: "A-113" });
  t.deepEqual(await operator.attributes.get(id, "CLIENT_SCOPE"), { serial: "A-113" });
  t.deepEqual(await operator.attributes.get(id, "SHARED_SCOPE", ["mode"]), { mode: "day" });
  await operator.attributes.delete(id, "SHARED_SCOPE", ["mode"]);
  t.deepEqual(await device(token, "GET", "attributes"), {
    client: { serial: "A-113" },
    shared: { interval: 2 },
  });
});

test("one-way, two-way and persistent RPCs reach the device, and its answers the operator", async (t) => {
  const { id, token } = await made("rpc");
  const calls = [
    operator.rpc.oneWay(id, "first", { n: 1 }),
    operator.rpc.twoWay(id, "second", [2]),
    operator.rpc.persistent(id, "third"),
  ];
  const heard: unknown[] = [];
  while (heard.length < calls.length) {
    const call = (await device(token, "GET", "rpc?timeout=5000")) as {
      id: number;
      method: string;
      params: unknown;
    };
    heard.push([call.method, call.params]);
    if (call.method !== "first") await device(token, "POST", `rpc/${call.id}`, { done: call.method });
  }
  t.deepEqual(heard.sort(), [
    ["first", { n: 1 }],
    ["second", [2]],
    ["third", null],
  ]);
  const [none, answer, rpcId] = await Promise.all(calls);
  t.is(none, undefined);
  t.deepEqual(answer, { done: "second" });
  const record = await operator.rpc.get(rpcId as string);
  t.is(record.status, "SUCCESSFUL");
  t.deepEqual(record.response, { done: "third" });
});

test("a device is claimed by the customer with the device's secret, and by no other", async (t) => {
  const { id, token } = await made("claims");
  const customer = new Operator({ url: platform.url });
  await customer.login("customer@thingsboard.org", "customer");
  await device(token, "POST", "claim", { secretKey: "s-1", durationMs: 60_000 });
  await customer.devices.claim("claims", "s-1");
  const owner = (await operator.devices.get(id)).customerId?.id;
  t.is(owner, (await customer.user()).customerId?.id);
  await operator.devices.reclaim("claims");
  t.not((await operator.devices.get(id)).customerId?.id, owner);
  await device(token, "POST", "claim", { secretKey: "s-2" });
  const error = await t.throwsAsync(() => customer.devices.claim("claims", "wrong"), {
    instanceOf: OperatorError,
  });
  t.is(error.status, 400);
});

test("firmware is uploaded, assigned to a device, fetched by it, and taken away", async (t) => {
  const { id, token } = await made("firmware");
  const bytes = new TextEncoder().encode("export const firmware = {};");
  const profile = (await operator.devices.get(id)).deviceProfileId?.id ?? "";
  const entry = await operator.ota.create({ title: "desk", version: "2.0.0", deviceProfileId: profile });
  const stored = await operator.ota.upload(entry.id.id, bytes);
  t.is(stored.checksum, createHash("sha256").update(bytes).digest("hex"));
  t.is((await operator.ota.list({ textSearch: "desk" })).data[0]?.id.id, entry.id.id);
  await operator.ota.assign(id, entry.id.id);
  t.is((await operator.devices.get(id)).firmwareId?.id, entry.id.id);
  const response = await fetch(`${platform.url}/api/v1/${token}/firmware?title=desk&version=2.0.0`);
  t.is(await response.text(), "export const firmware = {};");
  await operator.ota.assign(id, undefined);
  t.is(await device(token, "GET", "firmware?title=desk&version=2.0.0"), 404);
  await operator.ota.delete(entry.id.id);
  const error = await t.throwsAsync(() => operator.ota.get(entry.id.id), { instanceOf: OperatorError });
  t.is(error.status, 404);
});

test("firmware is assigned to a profile, and a wrong checksum is refused at the upload", async (t) => {
  const { id } = await operator.profiles.save({
    name: "of its own",
    type: "DEFAULT",
    transportType: "DEFAULT",
  });
  const entry = await operator.ota.create({ title: "other", version: "1", deviceProfileId: id.id });
  const wrong = { algorithm: "MD5", checksum: "00000000000000000000000000000000" } as const;
  const refused = operator.ota.upload(entry.id.id, new Uint8Array([1]), wrong);
  await t.throwsAsync(refused, { instanceOf: OperatorError });
  await operator.ota.upload(entry.id.id, new Uint8Array([1]));
  await operator.ota.assignToProfile(id.id, entry.id.id);
  t.is((await operator.profiles.get(id.id)).firmwareId?.id, entry.id.id);
  t.true((await operator.profiles.list()).data.some(({ name }) => name === "of its own"));
});

// What a customer's user reaches: the devices of that customer, by the customer's endpoints.

test("a customer's user lists, finds and changes the customer's devices, and no others", async (t) => {
  const platform = await startPlatform({ port: 0 });
  t.teardown(() => platform.close());
  const tenant = new Operator({ url: platform.url });
  await tenant.login("tenant@thingsboard.org", "tenant");
  const profile = await tenant.profiles.save({ name: "pumps" });
  for (const name of ["pump-1", "pump-10", "other"])
    await tenant.devices.create({ name, deviceProfileId: profile.id }, `${name}-token`);
  const customer = new Operator({ url: platform.url });
  await customer.login("customer@thingsboard.org", "customer");
  for (const name of ["pump-1", "pump-10"]) {
    const body = '{"secretKey":"s"}';
    await fetch(`${platform.url}/api/v1/${name}-token/claim`, { method: "POST", body });
    await customer.devices.claim(name, "s");
  }
  const names = (devices: readonly { name: string }[]): string[] => devices.map(({ name }) => name).sort();
  t.is(customer.authority, "CUSTOMER_USER");
  t.is(tenant.authority, "TENANT_ADMIN");
  t.deepEqual(names((await customer.devices.list()).data), ["pump-1", "pump-10"]);
  const infos = await customer.devices.infos({ textSearch: "pump" });
  t.deepEqual(names(infos.data), ["pump-1", "pump-10"]);
  t.true(infos.data.every(({ deviceProfileName }) => deviceProfileName === "pumps"));
  t.deepEqual(names(await customer.devices.ofProfile(profile)), ["pump-1", "pump-10"]);
  const one = await customer.devices.byName("pump-1");
  t.is(one?.name, "pump-1");
  t.is((await customer.devices.info(one?.id.id ?? "")).deviceProfileName, "pumps");
  t.is(await customer.devices.byName("other"), undefined);
  t.is(await customer.devices.byName("pump"), undefined);
  await customer.attributes.set(one?.id.id ?? "", "SHARED_SCOPE", { interval: 5 });
  t.deepEqual(await customer.attributes.get(one?.id.id ?? "", "SHARED_SCOPE"), { interval: 5 });
  const other = await tenant.devices.byName("other");
  for (const refused of [
    customer.profiles.list(),
    customer.devices.get(other?.id.id ?? ""),
    customer.attributes.set(other?.id.id ?? "", "SHARED_SCOPE", { interval: 5 }),
  ]) {
    const error = await t.throwsAsync(refused, { instanceOf: OperatorError });
    t.is(error.status, 403);
  }
});

test("a token that cannot be read is taken for a tenant's", async (t) => {
  for (const token of ["", "a", "a.b.c", "a.e30.c", "a.bnVsbA.c", `a.${btoa('{"scopes":5}')}.c`])
    t.is(
      new Operator({ url: "http://127.0.0.1:9", session: { token, refreshToken: "" } }).authority,
      undefined,
    );
});
