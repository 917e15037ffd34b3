import test from "ava";
import { RefusalBackoff } from "../../../../src/agent/provisioning/refusal-backoff.js";
import { FakeClock } from "../../../fakes/clock.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";
import { KEY, SECRET } from "../../../fakes/platform.js";
import { storedBytes, storedJson } from "../../../fakes/stored.js";
import { details, NAME, type Rig, startOnline, startRig } from "../rig.js";

const requests = (rig: Rig) => rig.platform.seen.filter(({ path }) => path === "/api/v1/provision");

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
  const { token } = JSON.parse(requests(rig)[0]?.body ?? "{}");
  t.is(rig.device.credentials.credentialsId, token);
  t.false(rig.store.values.has("proposed"));
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: false }]);
});

test("a pre-provisioned device gets a lost token back once the operator allows it", async (t) => {
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
  t.is(rig.platform.latest(rig.device, "back"), 1);
  t.is(device.credentials.credentialsId, "the-first-token");
});

test("a token that can't be stored is reported once, however often that is tried", async (t) => {
  const rig = startRig(t);
  rig.store.fails = () => true;
  rig.agent().start();
  await rig.clock.advance(3_600_000);
  t.is(rig.host.lines.filter((line) => line.includes("could not store the value")).length, 1);
  rig.store.fails = undefined;
  await rig.clock.advance(61_000);
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: false }]);
});

test("an answer to provisioning that is lost loses nothing: the proposed token is found accepted", async (t) => {
  const rig = startRig(t);
  rig.platform.fault = ({ path }) => (path.endsWith("/provision") ? "lose-answer" : undefined);
  rig.agent().start();
  await rig.clock.advance(10_000);
  t.is(requests(rig).length, 1);
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: true }]);
});

test("without a network it sends nothing; with one it provisions at once, with no unknown token", async (t) => {
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
  t.is(requests(rig).length, 1);
  t.deepEqual(unknown, []);
  t.deepEqual(details(rig, "provisioned"), [{ deviceName: NAME, adopted: false }]);
});

test("401 to a token in use is reported and retried ever more slowly; all is delivered later", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  const { credentialsId } = device.credentials;
  rig.platform.core.devices.setToken(device, "another");
  agent.telemetry.record({ lost: 0 });
  await rig.clock.advance(60_000);
  t.is(agent.state, "refused");
  const before = rig.platform.seen.length;
  agent.telemetry.record({ lost: 1 });
  await rig.clock.advance(30 * 60_000);
  t.true(rig.platform.seen.length - before <= 20);
  t.is(details(rig, "refused").length, 1);
  const read = rig.clock.untilSettled(agent.attributes.read({ timeoutMs: 5000 }), 6000);
  await t.throwsAsync(read, { code: "REFUSED", message: /refuses this device: .*access token/ });
  rig.platform.core.devices.setToken(device, credentialsId);
  await rig.clock.advance(11 * 60_000);
  t.is(agent.state, "online");
  t.deepEqual(rig.values("lost"), [0, 1]);
});

// When a refused device asks again, by the gate alone: what a start makes of what is stored.

const BASE = "http://platform.test";
const WALL = Date.UTC(2026, 0, 1);

/**
 * The next start on the same store, `later` ms on the clock that people use; undefined: it does not
 * know the time.
 */
function start(store: FakeStore, later: number | undefined) {
  const host = fakeHost({ store, clock: new FakeClock(later === undefined ? undefined : WALL + later) });
  return { host, gate: new RefusalBackoff(host, BASE) };
}

function refused(): { store: FakeStore; ms: number; stored: Record<string, unknown> } {
  const store = new FakeStore();
  const { gate } = start(store, 0);
  if (gate.identify("me")) throw new Error("a gate without a past waits");
  let ms = 0;
  for (let i = 0; i < 9; i++) ms = gate.noteRefusal("unknown");
  const stored = storedJson(store.get("refused")!);
  return { store, ms, stored };
}

test("a start goes on with what is left of the wait", (t) => {
  const { store, ms } = refused();
  for (const [later, left] of [
    [0, ms],
    [1000, ms - 1000],
    [ms - 1, 1],
    [ms, 0],
    [ms * 9, 0],
    // A clock that was set back must not make it longer.
    [-1e9, ms],
  ] as const) {
    const { gate } = start(store, later);
    t.is(gate.identify("me"), left > 0, `${later}`);
    t.is(gate.wait, left, `${later}`);
    t.is(gate.count, 9);
  }
});

test("another token or platform is asked about at once, and what makes no sense holds nobody back", (t) => {
  const { store, stored } = refused();
  for (const [token, change] of [
    ["somebody else", {}],
    ["me", { count: "9" }],
    ["me", { count: 1.5 }],
    ["me", { ms: "1000" }],
    ["me", { ms: -1 }],
    ["me", { ms: 600_001 }],
  ] as const) {
    put(store, { ...stored, ...change });
    const { gate } = start(store, 0);
    t.false(gate.identify(token), JSON.stringify(change));
    t.deepEqual([gate.wait, gate.count], [0, 0], JSON.stringify(change));
  }
  put(store, stored);
  t.false(new RefusalBackoff(start(store, 0).host, "http://other.test").identify("me"));
  put(store, { ...stored, count: -3, ms: 600_000 });
  const { gate } = start(store, 0);
  t.true(gate.identify("me"));
  t.deepEqual([gate.wait, gate.count], [600_000, 0]);
});

function put(store: FakeStore, value: object): void {
  store.values.set("refused", storedBytes(JSON.stringify(value)));
}

// How soon a device that the platform refuses asks again: seconds at first, ten minutes at last,
// over restarts and wakes.

const MINUTE = 60_000;

for (const [beforeMs, withinMs] of [
  [2000, 15_000],
  [15_000, MINUTE],
] as const)
  test(`a device switched on ${beforeMs} ms before its operator creates it delivers within ${withinMs} ms`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ token: "token" });
    agent.telemetry.record({ a: 1 });
    agent.start();
    await rig.clock.advance(beforeMs);
    const device = rig.platform.create(NAME, "token");
    const took = await rig.clock.runUntil(() => rig.platform.points(device, "a").length > 0, 20 * MINUTE);
    t.true(took < withinMs, `${took} ms`);
  });

test("the first FAILURE names both causes, and later ones are not reported again", async (t) => {
  const rig = startRig(t);
  rig.platform.create(NAME, "other");
  rig.agent().start();
  await rig.clock.advance(1_000);
  const lines = (): string[] => rig.host.lines.filter((one) => one.includes("provisioning refused"));
  t.regex(lines()[0] ?? "", /its name is taken .+, or the platform is overloaded/);
  await rig.clock.advance(30 * MINUTE);
  t.is(lines().length, 1);
});

test("restarted each minute, or woken each minute, a refused device asks ever more seldom", async (t) => {
  for (const wakes of [false, true]) {
    const rig = startRig(t);
    const options = { provisioning: { key: KEY, secret: "wrong", deviceName: NAME } };
    let kept: string | undefined;
    const times: number[] = [];
    rig.platform.fault = () => void times.push(rig.clock.now());
    for (let minute = 0; minute < 240; minute++) {
      const agent = rig.agent(options);
      if (wakes) {
        const wake = agent.runOnce({ timeoutMs: 20_000, connect: true, ...(kept && { kept }) });
        await rig.clock.advance(MINUTE);
        kept = (await wake).kept;
      } else {
        agent.start();
        await rig.clock.advance(MINUTE);
        void agent.stop();
        await rig.clock.advance(0);
      }
    }
    const last = times.filter((at) => at >= 120 * MINUTE).length;
    t.true(times.length > 5, `${wakes}: ${times.length}`);
    t.true(last <= 60, `${wakes}: ${last} in the last two hours`);
  }
});
