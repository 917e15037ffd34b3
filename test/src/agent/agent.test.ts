import { details, type Rig, startOnline, startRig } from "./rig.js";
import "../../../hosts/node/dispose.js";
import test, { type ExecutionContext } from "ava";
import { Recovery } from "../../../src/board-module.js";
import { Agent, isMoteError, RpcError } from "../../../src/index.js";
import type { FakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import type { SeenRequest } from "../../fakes/server.js";

test("an unreachable platform is reported once and tried ever more rarely; all is delivered later", async (t) => {
  const rig = startRig(t);
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
  await rig.clock.advance(331_000);
  t.deepEqual(rig.values("n"), [1]);
});

test("one poll that is cut is no outage: offline is not reported", async (t) => {
  const { rig } = await startOnline(t, { connections: 3 });
  rig.net.peers[1]?.reset();
  await rig.clock.advance(60_000);
  t.deepEqual(details(rig, "offline"), []);
});

test("stop ends every exchange at once and leaves nothing running; start goes on where it was", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 3 });
  await Promise.all([agent.stop(), rig.clock.advance(5)]);
  t.is(agent.state, "stopped");
  t.true(rig.net.peers.every((peer) => peer.closed));
  const requests = rig.platform.seen.length;
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(3_600_000);
  t.is(rig.platform.seen.length, requests);
  agent.start();
  await rig.clock.advance(5000);
  t.is(rig.values("n").length, 1);
});

test("refuses a second agent on one host until the first has stopped", async (t) => {
  const { rig, agent } = await startOnline(t);
  const { host } = rig;
  const onHost = () => new Agent(host, { baseUrl: "http://platform.test", token: "T1" });
  const early = onHost();
  t.throws(() => early.start(), { code: "BUSY", message: /another agent uses this host/ });
  await t.throwsAsync(early.runOnce(), { code: "BUSY" });
  await rig.clock.untilSettled(agent.stop());
  t.throws(() => early.start(), { code: "BUSY" }, "it read the queue before the first agent changed it");
  const next = onHost();
  await rig.clock.untilSettled(next.runOnce());
  t.throws(() => agent.start(), { code: "BUSY" }, "a device that sleeps is in use between its wakes");
  t.throws(() => onHost().start(), { code: "BUSY" });
  await rig.clock.untilSettled(next.stop());
  const last = onHost();
  last.start();
  await rig.clock.untilSettled(last.stop());
});

test("a claim is sent with what was given, and a wrong one is refused before it is sent", async (t) => {
  const { rig, agent } = await startOnline(t);
  await rig.clock.untilSettled(agent.claim({ secretKey: "s3cret", durationMs: 60_000 }));
  t.is(
    rig.platform.seen.filter(({ path }) => path.endsWith("/claim")).at(-1)?.body,
    '{"secretKey":"s3cret","durationMs":60000}',
  );
  await t.throwsAsync(agent.claim({ durationMs: -1 }), { code: "BAD_VALUE" });
});

test("a client-side RPC is sent once, and ends with its answer, an error or TIMEOUT", async (t) => {
  const { rig, agent } = await startOnline(t);
  const calls = () =>
    rig.platform.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/rpc")).length;
  t.truthy(await rig.clock.untilSettled(agent.rpc.call("getCurrentTime", {}), 1000));
  const timesOut = (call: Promise<unknown>, withinMs: number) =>
    t.throwsAsync(rig.clock.untilSettled(call, withinMs), { code: "TIMEOUT" });
  await timesOut(agent.rpc.call("nobodyHome", {}, { timeoutMs: 90_000 }), 90_001);
  rig.platform.fault = ({ path }) =>
    path.endsWith("/rpc") ? { status: 200, body: { error: "timeout" } } : undefined;
  await timesOut(agent.rpc.call("late", null), 1000);
  t.is(calls(), 3);
});

test("read, call and claim work before start: they connect, and nothing else is sent", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.telemetry.record({ n: 1 });
  const reading = agent.attributes.read({ sharedKeys: ["interval"] });
  await rig.clock.advance(60_000);
  t.deepEqual({ ...(await reading).shared }, {});
  const requests = rig.platform.seen.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);
  t.deepEqual(requests, ["POST provision", "GET attributes?sharedKeys=interval"]);
  agent.start();
  await rig.clock.advance(5000);
  t.is(rig.values("n").length, 1);
  await agent.stop();
  const late = rig.clock.untilSettled(agent.rpc.call("getCurrentTime", {}), 0);
  await t.throwsAsync(late, { code: "STOPPED" });
});

test("a stop and a start in one breath leave a running agent", async (t) => {
  const { rig, agent } = await startOnline(t);
  const stopping = agent.stop();
  agent.start();
  await rig.clock.advance(5000);
  await stopping;
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(60_000);
  t.is(rig.values("n").length, 1);
});

test("wrong arguments are refused before anything starts", async (t) => {
  const agent = startRig(t).agent();
  const bad: readonly (() => unknown)[] = [
    () => agent.on("online", 5 as never),
    () => agent.attributes.subscribe("interval", undefined as never),
    () => agent.attributes.publish(null as never),
    () => agent.rpc.handle("setLed", undefined as never),
    () => agent.rpc.handle("setLed", () => 1, { timeoutMs: "5" as never }),
  ];
  for (const call of bad) t.like(t.throws(call), { name: "MoteError", code: "BAD_VALUE" }, String(call));
  agent.telemetry.record({ n: 1 });
  const signal = { aborted: false } as never;
  const times = [Number.NaN, -1, Number.POSITIVE_INFINITY, "1"].map((timeoutMs) => ({ timeoutMs }) as never);
  const calls = [
    () => agent.attributes.read({ sharedKeys: "interval" as never }),
    () => agent.claim({ signal }),
    ...[...times, { signal }].map((options) => () => agent.attributes.read(options)),
    ...[...times, { signal }].map((options) => () => agent.flush(options)),
    ...times.map((options) => () => agent.rpc.call("getTime", {}, options)),
    ...times.map((options) => () => agent.runOnce(options)),
  ];
  for (const call of calls) await t.throwsAsync(call, { code: "BAD_VALUE" }, String(call));
});

test("the connection of client-side RPCs is closed once none is under way", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 2 });
  const open = () => rig.net.peers.filter(({ closed }) => !closed).length;
  const before = open();
  const calls = [1, 2].map(() => agent.rpc.call("getCurrentTime", {}));
  await rig.clock.runUntil(() => open() > before);
  await rig.clock.untilSettled(Promise.all(calls), 1000);
  await rig.clock.advance(100);
  t.is(open(), before);
});

test("a platform that falls silent is reported as offline after one request without an answer", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 3 });
  rig.platform.fault = () => "hang";
  // Nor are the polls answered that are open by now.
  for (const peer of rig.net.peers) Object.assign(peer, { send: () => {}, end: () => {} });
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(37_000);
  t.is(agent.state, "offline");
  t.is(details(rig, "offline").length, 1);
  rig.platform.fault = undefined;
  await rig.clock.advance(120_000);
  t.is(rig.values("n").length, 1);
  t.is(agent.state, "online");
});

test("one kind of request that is left without an answer is no outage while the others are answered", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 3 });
  agent.attributes.subscribe("interval", () => {});
  rig.platform.fault = ({ path }) => (path.includes("/attributes?") ? "hang" : undefined);
  for (let n = 0; n < 300; n++) {
    agent.telemetry.record({ n });
    await rig.clock.advance(2000);
  }
  t.deepEqual(details(rig, "offline"), []);
});

test("an application in a hurry makes no outage of a platform that is slow", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 3 });
  rig.platform.fault = ({ path }) => (path.includes("/attributes") ? "hang" : undefined);
  const hurried = agent.attributes.read({ sharedKeys: ["a"], timeoutMs: 200 });
  await t.throwsAsync(rig.clock.untilSettled(hurried, 300), { code: "TIMEOUT" });
  t.deepEqual(details(rig, "offline"), []);
});

test("an agent without firmware options rolls back an image on trial, not a confirmed one", async (t) => {
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

test("an aborted call ends with ABORTED and an aborted flush with what waits; the agent goes on", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.platform.fault = () => "hang";
  agent.telemetry.record({ a: 1 });
  const controller = new AbortController();
  const options = { signal: controller.signal, timeoutMs: 600_000 };
  const flushed = agent.flush(options);
  const calls = [
    agent.attributes.read({ sharedKeys: ["a"], ...options }),
    agent.rpc.call("getCurrentTime", {}, options),
    agent.claim(options),
  ].map((call) => t.throwsAsync(call as Promise<unknown>, { code: "ABORTED" }));
  await rig.clock.advance(1000);
  controller.abort();
  await Promise.all(calls);
  t.deepEqual(await flushed, { delivered: 0, dropped: 0, waiting: 1 });
  rig.platform.fault = undefined;
  const { length } = rig.platform.seen;
  await rig.clock.advance(60_000);
  const later = rig.platform.seen.slice(length).filter(({ path }) => /claim$|rpc$|sharedKeys=a$/.test(path));
  t.deepEqual(later, []);
  t.is(rig.platform.latest(rig.device, "a"), 1);
});

test("close(), and `await using` on Node, stop the agent for good; close() says how many points were lost", async (t) => {
  for (const [end, lost] of [
    [(agent: Agent) => agent.close(), { lostPoints: 0 }],
    [(agent: Agent) => agent[Symbol.asyncDispose](), undefined],
  ] as const) {
    const rig = startRig(t);
    const agent = rig.agent();
    agent.start();
    t.deepEqual(await rig.clock.untilSettled<unknown>(end(agent), 5000), lost);
    t.throws(() => agent.start(), { code: "STOPPED" });
  }
});

// Fields that hold a secret have private names of the language, so that a log of the agent shows
// none.

/** The fields through which `text` can be read from `thing`; what the machine keeps is its own. */
function waysTo(text: string, thing: unknown, host: FakeHost): string[] {
  const found: string[] = [];
  const seen = new Set<unknown>([host, ...Object.values(host), ...host.net.peers]);
  const visit = (value: unknown, path: string): void => {
    if (typeof value === "string" && value.includes(text)) found.push(path);
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || seen.has(value)) return;
    seen.add(value);
    if (value instanceof Map || value instanceof Set) visit([...value], path);
    for (const [name, inner] of Object.entries(value)) visit(inner, `${path}.${name}`);
  };
  visit(thing, "it");
  return found;
}

test("an agent shows neither its token nor its provisioning secret, while it provisions itself and after", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  for (let i = 0; i < 50; i++) {
    t.deepEqual(waysTo(SECRET, agent, rig.host), []);
    await rig.clock.advance(60);
  }
  agent.telemetry.record({ a: 1 });
  t.deepEqual(waysTo(rig.device.credentials.credentialsId, agent, rig.host), []);
});

// After an outage of the machine's own network, which the host saw end: everything is tried at
// once.

/** A network that takes what is sent, and nothing comes back. */
function silenceNetwork(rig: Rig): () => void {
  const connect = rig.net.onConnect;
  rig.net.onConnect = () => {};
  for (const peer of rig.net.peers)
    if (!peer.closed) Object.assign(peer, { send: () => {}, onData: undefined });
  return () => {
    rig.net.onConnect = connect;
  };
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): is back within a second of a network outage of 92 s`, async (t) => {
    const { rig, agent } = await startOnline(t, { connections });
    const runs: unknown[] = [];
    agent.rpc.handle("setLed", (params) => runs.push(params));
    const back = silenceNetwork(rig);
    for (let second = 0; second < 92; second++) {
      agent.telemetry.record({ n: second });
      await rig.clock.advance(1000);
    }
    t.is(agent.state, "offline");
    back();
    agent.networkReturned();
    await rig.clock.advance(1000);
    t.is(agent.state, "online");
    await rig.clock.advance(5000);
    t.is(agent.telemetry.waiting, 0);
    const results = await rig.call("setLed", { on: 1 }, connections === 1 ? 30_000 : 2000, {
      timeoutMs: 40_000,
    });
    t.is(results[0]?.kind, "answer");
    t.deepEqual(runs, [{ on: 1 }]);
    t.is(details(rig, "offline").length, 1);
  });
}

test("networkReturned() changes nothing while the platform answers or the agent is stopped", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.networkReturned();
  t.is(agent.state, "stopped");
  agent.start();
  await rig.clock.advance(5000);
  const connected = rig.net.peers.length;
  const requests = rig.platform.seen.length;
  agent.networkReturned();
  await rig.clock.advance(100);
  t.deepEqual([rig.net.peers.length, rig.platform.seen.length], [connected, requests]);
});

// An application, a crash and a platform that quote a secret: what of it leaves the device, and by
// which way.

async function call(rig: Rig, method: string): Promise<string> {
  const results = await rig.call(method, {}, 3000);
  return JSON.stringify(results);
}

test("a handler answers with an error code of its own, also by another copy of the classes", async (t) => {
  const { rig, agent } = await startOnline(t);
  const foreign = (name: string, code: unknown) => Object.assign(new Error("why"), { name, code });
  for (const [error, code] of [
    [new RpcError("LAMP_BROKEN", "why"), "LAMP_BROKEN"],
    [foreign("RpcError", "E_42"), "E_42"],
    [foreign("MoteError", "BAD_PARAMS"), "BAD_PARAMS"],
    [foreign("MoteError", "TIMEOUT"), "HANDLER_FAILED"],
    [foreign("RpcError", "not a code"), "HANDLER_FAILED"],
    [foreign("RpcError", SECRET.toUpperCase()), "HANDLER_FAILED"],
    [foreign("Error", "LAMP_BROKEN"), "HANDLER_FAILED"],
  ] as const) {
    agent.rpc.handle("read", () => {
      throw error;
    });
    t.regex(await call(rig, "read"), new RegExp(`${code}.*why`));
  }
  t.true(isMoteError(foreign("MoteError", "TIMEOUT")));
  t.false(isMoteError(new RpcError("A", "b")) || isMoteError(new Error("c")) || isMoteError(null));
});

test("an answer without its bad members goes to the caller, and they are counted", async (t) => {
  const { rig, agent } = await startOnline(t);
  agent.rpc.handle("read", () => ({ t: NaN, h: 40, list: [1, Infinity] }));
  t.regex(await call(rig, "read"), /"answer".*\{\\?"h\\?":40,\\?"list\\?":\[1,null\]\}/);
  t.is(agent.counters.leftOut, 2);
});

test("what a handler throws or returns, an unknown method and what is published show no secret", async (t) => {
  const { rig, agent, device } = await startOnline(t);
  for (const secret of [device.credentials.credentialsId, KEY, SECRET])
    for (const quoted of [secret, `Basic ${encodeURIComponent(`${secret}?`)}`]) {
      agent.rpc.handle("fails", () => {
        throw new Error(`no answer to ${quoted}`);
      });
      agent.rpc.handle("tells", () => ({ sent: [quoted], [quoted]: 1, ok: true }));
      t.regex(await call(rig, "fails"), /HANDLER_FAILED.*\*\*\*/);
      t.regex(await call(rig, "tells"), /\*\*\*.*\*\*\*.*ok/);
      agent.rpc.handle("tells nothing", () => ({ [quoted]: Number.NaN }));
      t.regex(await call(rig, "tells nothing"), /HANDLER_FAILED.*\*\*\*.* is NaN/);
      t.regex(await call(rig, quoted), /METHOD_NOT_FOUND/);
      const errors = [() => agent.rpc.handle(quoted, undefined as never)].map(
        (refused) => t.throws(refused, { code: "BAD_VALUE", message: /\*\*\*/ }).message,
      );
      agent.telemetry.record({ [quoted]: () => 1 } as never);
      agent.attributes.publish({ [quoted]: Number.NaN });
      agent.attributes.publish({ quoted: { was: quoted }, plain: "nothing else" });
      agent.telemetry.record({ text: quoted, mode: "auto" });
      await rig.clock.advance(20_000);
      t.like(rig.platform.attributes(device), { quoted: { was: "***" }, plain: "nothing else" });
      for (const [key, value] of Object.entries({ text: "***", mode: "auto" }))
        t.is(rig.platform.latest(device, key), value);
      const shown = JSON.stringify(rig.platform.points(device, "text")) + rig.host.lines + errors;
      t.false(shown.includes(quoted));
    }
});

test("an attribute that was published before its secret was known is cleaned when it is sent", async (t) => {
  const rig = startRig(t);
  rig.agent().attributes.publish({ quoted: "a password that comes later" });
  const agent = rig.agent();
  rig.host.redactor.conceal("password that comes later");
  agent.start();
  await rig.clock.advance(20_000);
  t.is(rig.platform.attributes(rig.device).quoted, "***");
});

test("a crash that quotes a secret, or half of it at its end, is reported without it", async (t) => {
  for (const [crashOf, shown] of [
    [
      (token: string) => `panic: no connection with ${token}; connect, run`,
      /^panic: no connection with \*\*\*; connect, run$/,
    ],
    [(token: string) => `${"x".repeat(200 - token.length)} ${token}`.slice(0, 192), /^x+ \*\*\*$/],
  ] as const) {
    const { rig, device } = await startOnline(t);
    const token = device.credentials.credentialsId;
    rig.powerOff();
    const agent = rig.agent();
    const lastRun = { reset: "panic", crash: crashOf(token), crashes: 5 };
    const recovery = new Recovery({ ...rig.host, lastRun }, "1");
    recovery.attach(agent);
    agent.start();
    await rig.clock.advance(5000);
    recovery.cancelTimers();
    t.regex(recovery.cause, shown);
    t.regex(String(rig.platform.attributes(device).moteRecovery), shown);
    t.false(rig.host.lines.join().includes(token));
  }
});

// While the platform answers 401 to the token, whatever the application asked for waits until the
// token is good again.

/**
 * A device that is online, on a platform that forgets the token for now. `isMet`: requests that
 * meet it.
 */
async function forgotten(
  t: ExecutionContext,
  connections: 1 | 2 | 3,
  isMet: (request: SeenRequest) => boolean = () => true,
): Promise<{ rig: Rig; agent: Agent; remember: () => void; met: SeenRequest[] }> {
  const { rig, agent, device } = await startOnline(t, { connections });
  rig.platform.setShared(device, { interval: 7 });
  const met: SeenRequest[] = [];
  rig.platform.fault = (request) => {
    if (!isMet(request)) return undefined;
    met.push(request);
    return { status: 401 };
  };
  const remember = () => {
    rig.platform.fault = undefined;
  };
  return { rig, agent, remember, met };
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): read, call and claim wait for a token, then get their answer`, async (t) => {
    const { rig, agent, remember, met } = await forgotten(t, connections);
    const calls = Promise.allSettled([
      agent.attributes.read({ sharedKeys: ["interval"], timeoutMs: 120_000 }),
      agent.rpc.call("getCurrentTime", {}, { timeoutMs: 120_000 }),
      agent.claim({ timeoutMs: 120_000 }),
    ]);
    await rig.clock.runUntil(() => met.length > 0, 40_000);
    await rig.clock.advance(5000);
    remember();
    await rig.clock.advance(75_000);
    const [read, ...others] = await calls;
    t.like(read, { status: "fulfilled", value: { shared: { interval: 7 } } });
    for (const call of others) t.is(call.status, "fulfilled", JSON.stringify(call));
    const sent = rig.platform.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/rpc"));
    t.is(sent.length - met.filter((request) => sent.includes(request)).length, 1, "the platform ran it once");
  });
}

test("points, attributes and RPCs that met a 401 reach the platform once the token is good again", async (t) => {
  const { rig, agent, remember } = await forgotten(t, 3);
  let ran = 0;
  agent.rpc.handle("setLed", () => ++ran);
  agent.telemetry.record({ n: 1 });
  agent.attributes.publish({ serial: "A1" });
  await rig.clock.advance(5000);
  const results = rig.platform.rpc(rig.device, "setLed", null, { timeoutMs: 600_000 });
  remember();
  await rig.clock.advance(600_000);
  t.is(rig.platform.latest(rig.device, "n"), 1);
  t.is(rig.platform.attributes(rig.device).serial, "A1");
  t.is(ran, 1);
  t.is(results.length, 1);
  t.deepEqual(details(rig, "drop"), []);
});

test("an answer to an RPC that met a 401 is posted again only when the platform hands the RPC out again", async (t) => {
  const { rig, agent, remember, met } = await forgotten(t, 3, ({ path }) => path.includes("/rpc/"));
  let ran = 0;
  agent.rpc.handle("setLed", () => ++ran);
  const results = await rig.call("setLed", null, 500, { timeoutMs: 8000 });
  t.is(met.length, 1);
  await rig.clock.advance(9000);
  const posted = met.length;
  remember();
  // It expired: nobody waits for the answer any more.
  await rig.clock.advance(60_000);
  t.is(rig.platform.seen.filter(({ path }) => path.includes("/rpc/")).length, posted);
  t.is(ran, 1);
  t.is(results.length, 1);
});
