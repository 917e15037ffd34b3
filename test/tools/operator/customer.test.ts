// What a customer's user reaches: the devices of that customer, by the customer's endpoints.
import test from "ava";
import { OperatorError } from "../../../tools/operator/error.js";
import { Operator } from "../../../tools/operator/operator.js";
import { startPlatform } from "../../../tools/platform/server.js";

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
