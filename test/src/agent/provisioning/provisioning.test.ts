import { KEY, SECRET } from "../../../fakes/platform.js";
import { details, NAME, startRig, test } from "../rig.js";

const asked = (rig: ReturnType<typeof startRig>) =>
  rig.platform.seen.filter(({ path }) => path === "/api/v1/provision");

test("a new device provisions itself with a token it proposed and stored first", async (t) => {
  const rig = startRig(t);
  let storedBefore = false;
  rig.platform.fault = ({ path }) => {
    if (path.endsWith("/provision")) storedBefore = rig.store.values.has("proposed");
    return undefined;
  };
  rig.agent().start();
  await rig.clock.advance(1000);
  t.true(storedBefore);
  const { token } = JSON.parse(asked(rig)[0]?.body ?? "{}");
  t.is(rig.platform.device(NAME).credentials.credentialsId, token);
  t.false(rig.store.values.has("proposed"));
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: false }]);
});

test("a pre-provisioned device that lost its token has it again once the operator let it provision once more", async (t) => {
  const rig = startRig(t);
  const { core } = rig.platform;
  const profile = core.profiles.create({
    ...{ name: "checked", strategy: "CHECK_PRE_PROVISIONED_DEVICES" },
    ...{ provisionKey: "checked", provisionSecret: SECRET },
  });
  const device = core.createDevice({ name: NAME, profileId: profile.id }, "the-first-token");
  const options = { provisioning: { key: "checked", secret: SECRET, deviceName: NAME } };
  const first = rig.agent(options);
  first.start();
  await rig.clock.advance(1000);
  t.is(first.state, "online");
  await first.stop();

  for (const key of ["token", "token-old", "proposed"]) rig.store.values.delete(key);
  const second = rig.agent(options);
  second.start();
  await rig.clock.advance(3_600_000);
  t.not(second.state, "online");
  core.deleteAttributes(device, "SERVER_SCOPE", ["provisionState"]);
  await rig.clock.advance(601_000 * 1.5);
  t.is(second.state, "online");
  second.telemetry.record({ back: 1 });
  await rig.clock.advance(60_000);
  t.is(rig.platform.latest(rig.platform.device(NAME), "back"), 1);
  t.is(device.credentials.credentialsId, "the-first-token");
});

test("a device whose name is not given is named after its hardware id", async (t) => {
  const rig = startRig(t);
  rig.agent({ provisioning: { key: KEY, secret: SECRET } }).start();
  await rig.clock.advance(1000);
  t.notThrows(() => rig.platform.device("mote-fake-0001"));
});

test("the token is used again after a restart, and nothing is provisioned twice", async (t) => {
  const rig = startRig(t);
  const first = rig.agent();
  first.start();
  await rig.clock.advance(1000);
  await first.stop();
  const second = rig.agent();
  second.start();
  await rig.clock.advance(1000);
  t.is(asked(rig).length, 1);
  t.is(second.state, "online");
  t.deepEqual(details(rig, "provisioned").at(-1), { deviceName: NAME, adopted: true });
});

test("a token that can't be stored is reported once, however often that is tried", async (t) => {
  const rig = startRig(t);
  rig.store.fails = () => true;
  rig.agent().start();
  await rig.clock.advance(3_600_000);
  t.is(rig.host.lines.filter((line) => line.includes("could not be written")).length, 1);
  rig.store.fails = undefined;
  await rig.clock.advance(61_000);
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: false }]);
});

test("an answer to provisioning that is lost loses nothing: the proposed token is found accepted", async (t) => {
  const rig = startRig(t);
  rig.platform.fault = ({ path }) => (path.endsWith("/provision") ? "lose-answer" : undefined);
  rig.agent().start();
  await rig.clock.advance(10_000);
  t.is(asked(rig).length, 1);
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: true }]);
});

test("before there is a network nothing was sent: it provisions as soon as it can, and tries no token that nobody knows", async (t) => {
  const rig = startRig(t);
  const { onConnect } = rig.net;
  rig.net.onConnect = (peer) => {
    peer.reset("no network");
    return false;
  };
  const unknown: number[] = [];
  rig.platform.onAnswer = (_, status) => {
    if (status === 401) unknown.push(status);
  };
  rig.agent().start();
  await rig.clock.advance(3000);
  rig.net.onConnect = onConnect;
  await rig.clock.advance(30_000);
  t.is(asked(rig).length, 1);
  t.deepEqual(unknown, []);
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: false }]);
});

test("a power loss while provisioning loses nothing: the next start adopts or asks again with the same token", async (t) => {
  for (const fault of ["lose-answer", "hang", "drop"] as const) {
    const rig = startRig(t);
    rig.platform.fault = ({ path }) => (path.endsWith("/provision") ? fault : undefined);
    const first = rig.agent();
    first.start();
    await rig.clock.advance(20);
    await first.stop();
    rig.platform.fault = undefined;
    rig.agent().start();
    await rig.clock.advance(60_000);
    t.is(rig.platform.core.devices.list().length, 1, fault);
    t.is(details(rig, "provisioned").length, 1, fault);
    const tokens = new Set(asked(rig).map(({ body }) => JSON.parse(body).token));
    t.is(tokens.size, 1, fault);
  }
});

test("a wrong secret is reported once and tried again ever more slowly", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ provisioning: { key: KEY, secret: "wrong", deviceName: NAME } });
  agent.start();
  await rig.clock.advance(35 * 60_000);
  const { length } = asked(rig);
  t.true(length > 8 && length < 25, `${length}`);
  t.is(agent.state, "refused");
  t.deepEqual(details(rig, "refused"), [
    { what: "provisioning", reason: "wrong provisioning key or secret" },
  ]);
  t.false(rig.host.lines.join().includes("wrong,"));
});

test("a platform that refuses the device is not online, and a given token says nothing of a name", async (t) => {
  const refused = startRig(t);
  refused.agent({ provisioning: { key: KEY, secret: "wrong", deviceName: NAME } }).start();
  await refused.clock.advance(60_000);
  t.deepEqual(details(refused, "online"), []);
  const unknown = startRig(t);
  unknown.agent({ token: "nobodys-token" }).start();
  await unknown.clock.advance(60_000);
  t.deepEqual(details(unknown, "online"), []);
  t.deepEqual(details(unknown, "provisioned"), [{ deviceName: undefined, adopted: true }]);
});

test("a token that is kept goes by the name under which it was got", async (t) => {
  const rig = startRig(t);
  const first = rig.agent();
  first.start();
  await rig.clock.advance(1000);
  await first.stop();
  rig.agent({ provisioning: { key: KEY, secret: SECRET, deviceName: "renamed" } }).start();
  await rig.clock.advance(1000);
  t.deepEqual(details(rig, "provisioned").at(-1), { deviceName: NAME, adopted: true });
});

test("a name that is taken is reported, and asked for again until it is free", async (t) => {
  const rig = startRig(t);
  const other = rig.platform.create(NAME, "other");
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(15 * 60_000);
  t.is(agent.state, "refused");
  rig.platform.core.deleteDevice(other);
  await rig.clock.advance(15 * 60_000);
  t.is(agent.state, "online");
});

test("a token kept for one base URL is never sent to another", async (t) => {
  const rig = startRig(t);
  const first = rig.agent();
  first.start();
  await rig.clock.advance(1000);
  await first.stop();
  const token = rig.platform.device(NAME).credentials.credentialsId;
  const before = rig.net.peers.length;
  rig.agent({ baseUrl: "http://elsewhere.test" }).start();
  await rig.clock.advance(60_000);
  const later = rig.net.peers.slice(before);
  t.true(later.length > 0);
  t.true(later.every((peer) => peer.name === "elsewhere.test" && !peer.received.includes(token)));
});

test("401 to a token in use: reported, asked again ever more slowly, recording goes on, and all is delivered in the end", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(1000);
  const device = rig.platform.device(NAME);
  const { type, credentialsId, value } = device.credentials;
  rig.platform.core.devices.setCredentials(device, { type, value, credentialsId: "another" });
  agent.telemetry.record({ lost: 0 });
  await rig.clock.advance(60_000);
  t.is(agent.state, "refused");
  const before = rig.platform.seen.length;
  agent.telemetry.record({ lost: 1 });
  await rig.clock.advance(30 * 60_000);
  t.true(rig.platform.seen.length - before <= 20);
  rig.platform.core.devices.setCredentials(device, { type, value, credentialsId });
  await rig.clock.advance(11 * 60_000);
  t.is(agent.state, "online");
  t.deepEqual(
    rig.platform.points(device, "lost").map((point) => point.value),
    [0, 1],
  );
});

test("no token, key or secret is ever logged or reported", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(1000);
  rig.platform.core.deleteDevice(rig.platform.device(NAME));
  await rig.clock.advance(60_000);
  const { token } = JSON.parse(asked(rig)[0]?.body ?? "{}");
  const all = JSON.stringify([rig.host.lines, rig.events]);
  for (const secret of [token, KEY, SECRET]) t.false(all.includes(secret));
});
