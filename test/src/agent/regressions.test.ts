// What went wrong once does not stay wrong.
import { RpcActor } from "../../../tools/platform/core/rpc/rpc.js";
import { details, startOnline, startRig, test, watch } from "./rig.js";

const MINUTE = 60_000;

test("an RPC is handled at once though the next poll still waits after a busy spell", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  let runs = 0;
  agent.rpc.handle("setLed", () => ++runs);
  // What is answered meanwhile makes the loss of a poll the poll's own.
  agent.attributes.subscribe("interval", () => {});
  agent.start();
  let answer: "busy" | "hang" | "as ever" = "busy";
  const polls: string[] = [];
  rig.platform.fault = ({ path }) => {
    if (!path.includes("rpc?")) return undefined;
    polls.push(answer);
    if (answer === "busy") return { status: 503 };
    const fault = answer === "hang" ? "hang" : undefined;
    answer = "as ever";
    return fault;
  };
  await rig.clock.advance(30 * MINUTE);
  answer = "hang";
  await rig.clock.runUntil(() => polls.at(-1) === "as ever");
  // The poll that hung is lost by now, so the turn of the next one comes in minutes; this one is
  // still open.
  await rig.clock.advance(24_000);
  const results = await rig.call("setLed", {}, 500);
  t.is(runs, 1);
  t.is(results[0]?.kind, "answer");
});

for (const [when, laterMs, answer] of [
  ["a restart of the platform it is known by its id and call", 2 * MINUTE, "1"],
  ["24 h the same call is a new one", 24 * 60 * MINUTE, "2"],
] as const)
  test(`an RPC ran at stop(): after ${when}`, async (t) => {
    const { rig, agent, device } = await startOnline(t);
    let runs = 0;
    agent.rpc.handle("setLed", () => {
      runs++;
      return new Promise((resolve) => rig.clock.timer(3000, () => resolve(runs)));
    });
    rig.platform.rpc(device, "setLed", {}, { timeoutMs: 2000 });
    await rig.clock.advance(100);
    await Promise.all([agent.stop(), rig.clock.advance(5000)]);
    Object.assign(device, { rpc: new RpcActor(rig.platform.core.clock) });
    agent.start();
    await rig.clock.advance(laterMs);
    const results = await rig.call("setLed", {}, 10_000);
    t.deepEqual(results, [{ kind: "answer", text: answer }]);
  });

test("an answer that a proxy refuses for its size is replaced by ANSWER_TOO_LARGE", async (t) => {
  const { rig, agent } = await startOnline(t);
  agent.rpc.handle("list", () => "x".repeat(5000));
  rig.platform.fault = ({ method, body }) =>
    method === "POST" && body.length > 4000 ? { status: 413 } : undefined;
  const results = await rig.call("list", {}, 9000);
  t.regex(JSON.stringify(results), /^\[\{"kind":"answer".*ANSWER_TOO_LARGE/);
});

for (const status of [400, 403, 422, 500])
  test(`an answer that is refused with ${status} is replaced, and the next RPC comes`, async (t) => {
    const { rig, agent } = await startOnline(t);
    let runs = 0;
    agent.rpc.handle("show", () => `<script>${++runs}`);
    agent.rpc.handle("next", () => "done");
    rig.platform.fault = ({ method, body }) =>
      method === "POST" && body.includes("<script>") ? { status, body: "no" } : undefined;
    const shown = rig.platform.rpc(rig.device, "show", {});
    const next = await rig.call("next", {}, 9000);
    t.regex(JSON.stringify(shown), /^\[\{"kind":"answer".*ANSWER_TOO_LARGE/);
    t.deepEqual(next, [{ kind: "answer", text: '"done"' }]);
    t.is(runs, 1);
  });

test("one connection: a call without an answer holds up a point for 35 s at most", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 1 });
  rig.platform.fault = ({ body }) => (body.includes("getCurrentTime") ? "hang" : undefined);
  const called = agent.rpc.call("getCurrentTime", {}, { timeoutMs: 600_000 });
  const ended = t.throwsAsync(called, { code: "TIMEOUT" });
  await rig.clock.runUntil(() => rig.platform.seen.some(({ body }) => body.includes("getCurrentTime")));
  agent.telemetry.record({ mode: "auto" });
  await rig.clock.advance(36_000);
  t.is(rig.platform.latest(rig.device, "mode"), "auto");
  await ended;
});

test("a call whose signal throws rejects once, and leaves no rejection unhandled", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.platform.fault = () => ({ status: 403 });
  const broken = () => {
    throw new Error("broken");
  };
  const signal = { aborted: false, addEventListener: broken, removeEventListener: broken };
  await t.throwsAsync(agent.attributes.read({ signal }), { message: "broken" });
  await rig.clock.advance(MINUTE);
});

test("a shared attribute that was too large is seen again once it is smaller", async (t) => {
  const { rig, agent, device } = await startOnline(t, { connections: 2 });
  const seen = watch(agent);
  rig.platform.setShared(device, { interval: "x".repeat(20_000) });
  await rig.clock.advance(MINUTE);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(11 * MINUTE);
  t.is(seen.at(-1), 5);
  t.is(rig.host.lines.filter((line) => line.includes("is ignored")).length, 1);
});

test("shared attributes with more bytes than characters do not overrun the store", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  watch(agent, "note");
  rig.platform.setShared(device, { note: "ü".repeat(2500) });
  await rig.clock.advance(MINUTE);
  t.false(rig.host.lines.some((line) => line.includes("failed")));
});

test("a client attribute refused by a status that says nothing of its content is kept", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.platform.fault = ({ method }) => (method === "POST" ? { status: 404 } : undefined);
  agent.attributes.publish({ serial: "A-113" });
  await rig.clock.advance(MINUTE);
  rig.platform.fault = undefined;
  await rig.clock.advance(6 * MINUTE);
  t.is(rig.platform.attributes(rig.device).serial, "A-113");
});

test("a client attribute published with the value it has writes nothing to the store", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.attributes.publish({ serial: "A-113" });
  const { length } = rig.store.changes;
  agent.attributes.publish({ serial: "A-113" });
  t.is(rig.store.changes.length, length);
});

test("client attributes that the platform lost are published again", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  watch(agent);
  agent.attributes.publish({ serial: "A-113" });
  await rig.clock.advance(MINUTE);
  rig.platform.core.deleteAttributes(device, "CLIENT_SCOPE", ["serial", "moteVersion"]);
  await rig.clock.advance(6 * MINUTE);
  t.is(rig.platform.attributes(device).serial, "A-113");
});

test("client attributes are published again by a device provisioned again whose answer was lost", async (t) => {
  const rig = startRig(t);
  const first = rig.agent();
  first.attributes.publish({ serial: "A-113" });
  first.start();
  await rig.clock.advance(MINUTE);
  await first.stop();
  for (const key of ["token", "token-old"]) rig.store.delete(key);
  const next = rig.agent({
    provisioning: { key: "provision-key", secret: "provision-secret", deviceName: "b" },
  });
  rig.platform.fault = ({ path }) => (path.endsWith("/provision") ? "lose-answer" : undefined);
  next.start();
  await rig.clock.advance(MINUTE);
  t.is(rig.platform.attributes(rig.platform.device("b")).serial, "A-113");
});

test("a proposed token that only a proxy found good is provisioned once the platform refuses it", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  rig.platform.fault = ({ path }) => (path.endsWith("/provision") ? "drop" : { status: 200, body: {} });
  agent.start();
  await rig.clock.advance(MINUTE);
  rig.platform.fault = undefined;
  await rig.clock.advance(11 * MINUTE);
  t.is(agent.state, "online");
});

test("reset and start in one breath begin like a new device, without the old token", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  const before = device.credentials.credentialsId;
  rig.platform.core.devices.delete(device);
  const { length } = rig.platform.seen;
  void agent.reset();
  agent.start();
  await rig.clock.advance(MINUTE);
  t.false(rig.platform.seen.slice(length).some(({ path }) => path.includes(before)));
  t.is(details(rig, "provisioned").length, 2);
  t.not(rig.device.credentials.credentialsId, before);
});

test("a subscriber and a listener whose promise rejects are logged, and harm nothing", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  const reject = () => Promise.reject(new Error("mine"));
  agent.on("online", reject);
  agent.attributes.subscribe("interval", reject);
  agent.start();
  await rig.clock.advance(1000);
  rig.platform.setShared(rig.device, { interval: 1 });
  await rig.clock.advance(MINUTE);
  // The subscriber is told that there is no value, and then of the value.
  t.is(rig.host.lines.filter((line) => line.includes("threw")).length, 3);
});

test("while the token is refused, an open poll's change is seen at once, and the next one afterwards", async (t) => {
  const { rig, agent, device } = await startOnline(t, { connections: 3 });
  const seen = watch(agent);
  await rig.clock.advance(25_000);
  rig.platform.fault = () => ({ status: 401 });
  agent.attributes.publish({ serial: "A-113" });
  await rig.clock.runUntil(() => details(rig, "refused").length > 0);
  rig.platform.setShared(device, { interval: 4 });
  await rig.clock.advance(1000);
  t.deepEqual(seen, [4]);
  await rig.clock.advance(MINUTE);
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(8 * MINUTE);
  rig.platform.fault = undefined;
  await rig.clock.advance(20 * MINUTE);
  t.deepEqual(seen, [4, 5]);
});

test("refused shared attributes are asked for once a minute", async (t) => {
  const { rig, agent, device } = await startOnline(t, { connections: 2 });
  const seen = watch(agent);
  await rig.clock.advance(25_000);
  const requests: number[] = [];
  rig.platform.fault = ({ path }) => {
    if (!path.includes("attributes")) return undefined;
    requests.push(rig.clock.now());
    return { status: 404 };
  };
  await rig.clock.advance(30 * MINUTE);
  const apart = requests.slice(1).map((at, i) => at - (requests[i] as number));
  t.true(Math.max(...apart) < MINUTE + 5000, `${apart}`);
  t.true(requests.length < 60);
  rig.platform.fault = undefined;
  rig.platform.setShared(device, { interval: 5 });
  await rig.clock.advance(MINUTE + 5000);
  t.deepEqual(seen, [5]);
});
