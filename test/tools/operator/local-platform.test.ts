// The operator's calls against the local platform itself, with a device played by hand.
import test from "ava";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../../tools/platform/server.js";

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

test("reads all 2,000 keys of a device, one with a comma included", async (t) => {
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
