// That nothing is left behind on a platform, however a test ends; the platform lives on here, unlike in the other tests.
import test from "ava";
import { Operator } from "../../tools/operator/operator.js";
import { latest, type Rig, startRig, type Teardown, until } from "./rig.js";
import { image, imageText, run } from "./run.js";
import { open, PATIENCE_MS, SERVERS, type Server, serversOf } from "./server.js";
import { inventory, newName, sweep } from "./traces.js";

/** Names and ids of all there is of these names: others may be at work on the same tenant. */
async function list(operator: Operator, isOurs: (name: string) => boolean): Promise<string[]> {
  const { devices, profiles, packages } = await inventory(operator);
  return [
    ...devices.map(({ name, id }) => `device ${name} ${id.id}`),
    ...profiles.map(({ name, id }) => `profile ${name} ${id.id}`),
    ...packages.map(({ title, id }) => `package ${title} ${id.id}`),
  ]
    .filter((line) => isOurs(line.split(" ")[1] ?? ""))
    .sort();
}

async function connect(
  server: Server,
): Promise<{ running: Server; operator: Operator; close(): Promise<void> }> {
  const { url, close } = await open(server);
  const operator = new Operator({ url, timeoutMs: PATIENCE_MS });
  await operator.login(server.tenant.username, server.tenant.password);
  return { running: { ...server, url }, operator, close };
}

/** A test that fails midway: devices, packages and assignments of both kinds are there, the device is at work. */
async function fails(t: Teardown, rig: Rig): Promise<never> {
  run(t, rig, image(rig, "1.0.0", "agent.telemetry.record({ running: 1 });"));
  const id = await rig.deviceId();
  await until(async () => (await latest(rig, id, "running")) === 1, "it runs");
  for (const version of ["1.5.0", "1.6.0"]) {
    const made = await rig.operator.ota.create({ title: rig.name, version, deviceProfileId: rig.profileId });
    await rig.operator.ota.upload(made.id.id, Buffer.from(imageText(rig, version, "")));
    if (version === "1.5.0") await rig.operator.ota.assignToProfile(rig.profileId, made.id.id);
    else await rig.operator.ota.assign(id, made.id.id);
  }
  throw new Error("midway");
}

for (const server of SERVERS) {
  test(`${server.name}: a test that fails midway leaves no device, profile or package behind`, async (t) => {
    const { running, operator, close } = await connect(server);
    t.teardown(close);
    const undo: (() => unknown)[] = [];
    const inner: Teardown = { teardown: (step) => void undo.unshift(step) };
    const rig = await startRig(inner, running);
    const isOwn = (name: string): boolean => name.startsWith(rig.name);
    try {
      await t.throwsAsync(fails(inner, rig), { message: "midway" });
      t.is((await list(operator, isOwn)).length, 4);
    } finally {
      for (const step of undo) await step();
    }
    t.deepEqual(await list(operator, isOwn), []);
  });
}

test("what a killed run left is swept away an hour later, and nothing else is", async (t) => {
  const [server] = serversOf({});
  const { operator, close } = await connect(server);
  t.teardown(close);
  const make = async (name: string): Promise<void> => {
    const deviceProfileId = (await operator.profiles.save({ name })).id;
    await operator.devices.create({ name, deviceProfileId });
    await operator.ota.create({ title: name, version: "1", deviceProfileId: deviceProfileId.id });
  };
  const young = newName();
  const others = [young, "greenhouse", "mote-e2e-of-mine", `x-${newName(0)}`];
  for (const name of others) await make(name);
  const before = await list(operator, () => true);
  await make(newName(Date.now() - 3_700_000));
  t.is((await list(operator, () => true)).length, before.length + 3);
  await sweep(operator);
  t.deepEqual(await list(operator, () => true), before);
});

test("a server without its login is refused by the names of what is missing", (t) => {
  t.throws(() => serversOf({ MOTE_PLATFORM_URL: "http://127.0.0.1:1" }), {
    message: /MOTE_PLATFORM_USERNAME/,
  });
  t.deepEqual(
    serversOf({}).map(({ name }) => name),
    ["local"],
  );
});
