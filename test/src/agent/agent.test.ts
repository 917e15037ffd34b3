import { details, NAME, startRig, test } from "./rig.js";

test("an unreachable platform: offline is reported once, attempts grow rare and keep their distance, and all is delivered in the end", async (t) => {
  const rig = startRig(t);
  rig.net.onConnect = undefined;
  const attempts: number[] = [];
  const { onConnect } = rig.net;
  rig.net.onConnect = (peer) => {
    attempts.push(rig.clock.now());
    peer.reset("connection refused");
    return false;
  };
  const agent = rig.agent();
  agent.start();
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(6 * 3_600_000);
  t.deepEqual(details(rig, "offline"), [{ reason: "connection refused" }]);
  t.is(agent.state, "offline");
  const last = attempts.slice(-20);
  const gaps = last.slice(1).map((at, i) => at - (last[i] ?? 0));
  for (const gap of gaps) t.true(gap >= 270_000 && gap <= 330_000 + 10, `${gap}`);
  t.true(new Set(gaps).size > 10);
  rig.net.onConnect = onConnect;
});

test("a platform that goes away and comes back: offline and online are reported once each, nothing is lost", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.fault = () => "drop";
  for (const peer of rig.net.peers) peer.reset();
  for (let i = 0; i < 300; i++) {
    agent.telemetry.record({ n: i });
    await rig.clock.advance(1000);
  }
  t.is(agent.state, "offline");
  rig.platform.fault = undefined;
  await rig.clock.advance(6 * 60_000);
  t.is(agent.state, "online");
  t.deepEqual(
    rig.platform.points(rig.platform.device(NAME), "n").map((point) => point.value),
    [...Array(300).keys()],
  );
  t.is(details(rig, "offline").length, 1);
  t.is(details(rig, "online").length, 2);
});

test("one poll that is cut is no outage: offline is not reported", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.start();
  await rig.clock.advance(5000);
  rig.net.peers[1]?.reset();
  await rig.clock.advance(60_000);
  t.deepEqual(details(rig, "offline"), []);
});

test("a captive portal's 200 is no answer: what was sent is kept and sent again", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.fault = () => ({ status: 200, body: "<html>Welcome to the hotel</html>" });
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(60_000);
  t.is(agent.state, "offline");
  t.deepEqual(details(rig, "drop"), []);
  rig.platform.fault = undefined;
  await rig.clock.advance(6 * 60_000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
});

test("malformed answers of every kind are survived, and the device works afterwards", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.attributes.subscribe("interval", () => {});
  agent.rpc.handle("ping", () => "pong");
  agent.start();
  await rig.clock.advance(5000);
  const bodies = [
    "{",
    "[]",
    "nul",
    '{"id":"x"}',
    '{"client":5}',
    '{"deleted":5}',
    '{"id":1e99,"method":"ping"}',
    "\u0000",
  ];
  let at = 0;
  rig.platform.fault = ({ method }) =>
    method === "GET" ? { status: 200, body: bodies[at++ % bodies.length] } : undefined;
  await rig.clock.advance(30 * 60_000);
  rig.platform.fault = undefined;
  await rig.clock.advance(10 * 60_000);
  const results = rig.platform.rpc(rig.platform.device(NAME), "ping", null, { timeoutMs: 60_000 });
  await rig.clock.advance(5000);
  t.deepEqual(results, [{ kind: "answer", text: '"pong"' }]);
  t.true(agent.malformedAnswers > 10);
  const lines = rig.host.lines.filter((line) => line.includes("taken for none"));
  t.is(lines.length, new Set(lines).size);
  t.true(rig.platform.seen.length < 2000, `${rig.platform.seen.length} requests`);
});

test("stop ends every exchange at once and leaves nothing running; start goes on where it was", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.start();
  await rig.clock.advance(5000);
  const stopped = agent.stop();
  await rig.clock.advance(5);
  await stopped;
  t.is(agent.state, "stopped");
  t.true(rig.net.peers.every((peer) => peer.closed));
  const requests = rig.platform.seen.length;
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(3_600_000);
  t.is(rig.platform.seen.length, requests);
  agent.start();
  await rig.clock.advance(5000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
});

test("start twice is start once", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  agent.start();
  await rig.clock.advance(5000);
  t.is(rig.platform.seen.filter(({ path }) => path.endsWith("/provision")).length, 1);
});

test("reset forgets token, telemetry and attributes, and the next start begins like a new device", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.attributes.publish({ serial: "A" });
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.fault = () => "drop";
  agent.telemetry.record({ old: 1 });
  await rig.clock.advance(1);
  await agent.reset();
  for (const key of ["token", "proposed", "pending", "shared", "rpc0"])
    t.false(rig.store.values.has(key), key);
  rig.platform.fault = undefined;
  rig.platform.core.deleteDevice(rig.platform.device(NAME));
  agent.start();
  agent.telemetry.record({ fresh: 1 });
  await rig.clock.advance(10_000);
  const device = rig.platform.device(NAME);
  t.is(rig.platform.points(device, "old").length, 0);
  t.is(rig.platform.points(device, "fresh").length, 1);
});

test("a claim is sent with what was given, and a wrong one is refused before it is sent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  const claim = agent.claim({ secretKey: "s3cret", durationMs: 60_000 });
  await rig.clock.advance(1000);
  await claim;
  t.is(
    rig.platform.seen.filter(({ path }) => path.endsWith("/claim")).at(-1)?.body,
    '{"secretKey":"s3cret","durationMs":60000}',
  );
  await t.throwsAsync(agent.claim({ durationMs: -1 }), { code: "BAD_VALUE" });
});

test("a client-side RPC is sent once, and ends with its answer, an error or TIMEOUT", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  const calls = () =>
    rig.platform.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/rpc")).length;
  const answered = agent.rpc.call("getCurrentTime", {});
  await rig.clock.advance(1000);
  t.truthy(await answered);
  const silent = t.throwsAsync(agent.rpc.call("nobodyHome", {}, { timeoutMs: 90_000 }), { code: "TIMEOUT" });
  await rig.clock.advance(90_001);
  await silent;
  rig.platform.fault = ({ path }) =>
    path.endsWith("/rpc") ? { status: 200, body: { error: "timeout" } } : undefined;
  const refused = t.throwsAsync(agent.rpc.call("late", null), { code: "TIMEOUT" });
  await rig.clock.advance(1000);
  await refused;
  t.is(calls(), 3);
});

test("a client-side RPC that is too large is rejected as that, and not sent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  for (const text of ["x".repeat(70_000), "ü".repeat(40_000)])
    await t.throwsAsync(agent.rpc.call("store", { text }), { code: "TOO_LARGE" });
  await t.throwsAsync(agent.rpc.call("store".repeat(20_000), null), { code: "TOO_LARGE" });
  await t.throwsAsync(agent.rpc.call("", null), { code: "BAD_VALUE" });
  await t.throwsAsync(agent.rpc.call("store", { at: Number.NaN }), { code: "BAD_VALUE" });
  await rig.clock.advance(1000);
  t.false(rig.platform.seen.some(({ method, path }) => method === "POST" && path.endsWith("/rpc")));
});

test("telemetry goes on while a client-side RPC waits for its answer", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  agent.start();
  await rig.clock.advance(5000);
  const silent = t.throwsAsync(agent.rpc.call("nobodyHome", {}), { code: "TIMEOUT" });
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(2000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
  await rig.clock.advance(60_000);
  await silent;
});

test("read, call and claim work before start: they connect, and nothing else is sent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.telemetry.record({ n: 1 });
  const reading = agent.attributes.read({ sharedKeys: ["interval"] });
  await rig.clock.advance(60_000);
  t.deepEqual({ ...(await reading).shared }, {});
  t.deepEqual(
    rig.platform.seen.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`),
    ["POST provision", "GET attributes?sharedKeys=interval"],
  );
  agent.start();
  await rig.clock.advance(5000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
  await agent.stop();
  const late = t.throwsAsync(agent.rpc.call("getCurrentTime", {}), { code: "STOPPED" });
  await rig.clock.advance(0);
  await late;
});

test("a stop and a start in one breath leave a running agent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  const stopping = agent.stop();
  agent.start();
  await rig.clock.advance(5000);
  await stopping;
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(60_000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
});

test("a listener, subscriber or handler that could never be called is refused, and so is what is no set of values", async (t) => {
  const agent = startRig(t).agent();
  const bad: readonly (() => unknown)[] = [
    () => agent.on("onlin" as "online", () => {}),
    () => agent.on("toString" as "online", () => {}),
    () => agent.on("online", 5 as never),
    () => agent.attributes.subscribe("interval", undefined as never),
    () => agent.attributes.publish(null as never),
    () => agent.rpc.handle("setLed", undefined as never),
    () => agent.rpc.handle("setLed", () => 1, { timeoutMs: "5" as never }),
  ];
  for (const call of bad) t.like(t.throws(call), { name: "MoteError", code: "BAD_VALUE" }, String(call));
  const read = agent.attributes.read({ sharedKeys: "interval" as never });
  t.like(await t.throwsAsync(read), { code: "BAD_VALUE" });
});

test("the connection of client-side RPCs is closed once none is under way", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 2 });
  agent.start();
  await rig.clock.advance(5000);
  const open = () => rig.net.peers.filter(({ closed }) => !closed).length;
  const before = open();
  const calls = [1, 2].map(() => agent.rpc.call("getCurrentTime", {}));
  await rig.clock.runUntil(() => open() > before);
  await rig.clock.advance(1000);
  await Promise.all(calls);
  await rig.clock.advance(100);
  t.is(open(), before);
});

test("an invalid timeoutMs is refused", async (t) => {
  const agent = startRig(t).agent();
  agent.telemetry.record({ n: 1 });
  for (const timeoutMs of [Number.NaN, -1, Number.POSITIVE_INFINITY, "1" as never]) {
    await t.throwsAsync(agent.flush({ timeoutMs }), { code: "BAD_VALUE" });
    await t.throwsAsync(agent.attributes.read({ timeoutMs }), { code: "BAD_VALUE" });
    await t.throwsAsync(agent.runOnce({ timeoutMs }), { code: "BAD_VALUE" });
  }
});

test("a platform that falls silent is reported as offline after one request without an answer", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.fault = () => "hang";
  // Nor are the polls answered that are open by now.
  for (const peer of rig.net.peers) Object.assign(peer, { send: () => {}, end: () => {} });
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(37_000);
  t.is(agent.state, "offline");
  t.is(details(rig, "offline").length, 1);
  rig.platform.fault = undefined;
  await rig.clock.advance(120_000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
  t.is(agent.state, "online");
});

test("one kind of request that is left without an answer is no outage while the others are answered", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.attributes.subscribe("interval", () => {});
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.fault = ({ path }) => (path.includes("/attributes?") ? "hang" : undefined);
  for (let n = 0; n < 300; n++) {
    agent.telemetry.record({ n });
    await rig.clock.advance(2000);
  }
  t.deepEqual(details(rig, "offline"), []);
});

test("an application in a hurry makes no outage of a platform that is slow", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent({ connections: 3 });
  agent.start();
  await rig.clock.advance(5000);
  rig.platform.fault = ({ path }) => (path.includes("/attributes") ? "hang" : undefined);
  const hurried = t.throwsAsync(agent.attributes.read({ sharedKeys: ["a"], timeoutMs: 200 }), {
    code: "TIMEOUT",
  });
  await rig.clock.advance(300);
  await hurried;
  t.deepEqual(details(rig, "offline"), []);
});

test("an agent without firmware options leaves a confirmed image alone, and gives up one on trial, as nothing could ever replace it", async (t) => {
  for (const state of ["confirmed", "pending"] as const) {
    const rig = startRig(t);
    const agent = rig.agent();
    rig.host.slot.current = state;
    agent.start();
    await rig.clock.advance(5000);
    const said = rig.host.lines.filter((line) => line.includes("firmware options"));
    t.is(said.length, state === "pending" ? 1 : 0);
    t.is(rig.host.slot.reverted, state === "pending");
    t.deepEqual(rig.host.restarts, state === "pending" ? ["firmware"] : []);
  }
});
