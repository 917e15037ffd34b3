import { details, NAME, type Rig, startOnline, startRig } from "./rig.js";
import "../../../hosts/node/dispose.js";
import { createHash } from "node:crypto";
import { inspect } from "node:util";
import test, { type ExecutionContext } from "ava";
import type { Agent } from "../../../src/index.js";
import { Recovery } from "../../../src/internal.js";
import { Reports, Session } from "../../../src/report/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { type SeenRequest, serve } from "../../fakes/server.js";
import { jwt, URL, USER } from "../report/rig.js";

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

test("one poll that is cut is no outage: offline is not reported", async (t) => {
  const { rig } = await startOnline(t, { connections: 3 });
  rig.net.peers[1]?.reset();
  await rig.clock.advance(60_000);
  t.deepEqual(details(rig, "offline"), []);
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
  const lines = rig.host.lines.filter((line) => line.includes("is malformed and ignored"));
  t.true(lines.length > 0);
  t.is(lines.length, new Set(lines).size);
  t.true(rig.platform.seen.length < 2000, `${rig.platform.seen.length} requests`);
});

test("stop ends every exchange at once and leaves nothing running; start goes on where it was", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 3 });
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

test("a claim is sent with what was given, and a wrong one is refused before it is sent", async (t) => {
  const { rig, agent } = await startOnline(t);
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
  const { rig, agent } = await startOnline(t);
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
  const { rig, agent } = await startOnline(t);
  for (const text of ["x".repeat(70_000), "ü".repeat(40_000)])
    await t.throwsAsync(agent.rpc.call("store", { text }), { code: "TOO_LARGE" });
  await t.throwsAsync(agent.rpc.call("store".repeat(20_000), null), { code: "TOO_LARGE" });
  await t.throwsAsync(agent.rpc.call("", null), { code: "BAD_VALUE" });
  await t.throwsAsync(agent.rpc.call("store", { at: Number.NaN }), { code: "BAD_VALUE" });
  await rig.clock.advance(1000);
  t.false(rig.platform.seen.some(({ method, path }) => method === "POST" && path.endsWith("/rpc")));
});

test("telemetry goes on while a client-side RPC waits for its answer", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 2 });
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
  const { rig, agent } = await startOnline(t);
  const stopping = agent.stop();
  agent.start();
  await rig.clock.advance(5000);
  await stopping;
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(60_000);
  t.is(rig.platform.points(rig.platform.device(NAME), "n").length, 1);
});

test("wrong arguments are refused before anything starts", async (t) => {
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
  await rig.clock.advance(1000);
  await Promise.all(calls);
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
  const { rig, agent } = await startOnline(t, { connections: 3 });
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

for (const [name, call] of [
  ["attributes.read", (agent, signal) => agent.attributes.read({ sharedKeys: ["a"], signal })],
  ["rpc.call", (agent, signal) => agent.rpc.call("getCurrentTime", {}, { signal })],
  ["claim", (agent, signal) => agent.claim({ signal })],
] as [string, (agent: Agent, signal: AbortSignal) => Promise<unknown>][]) {
  test(`${name} ends with ABORTED when its signal is aborted, and the agent goes on`, async (t) => {
    const { rig, agent } = await startOnline(t);
    rig.platform.fault = () => "hang";
    const controller = new AbortController();
    const ended = t.throwsAsync(call(agent, controller.signal), { code: "ABORTED" });
    await rig.clock.advance(1_000);
    controller.abort();
    await ended;
    rig.platform.fault = undefined;
    agent.telemetry.record({ a: 1 });
    await rig.clock.advance(60_000);
    t.is(rig.platform.latest(rig.platform.device(NAME), "a"), 1);
  });
}

test("flush resolves with false when its signal is aborted", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  rig.platform.fault = () => "hang";
  agent.telemetry.record({ a: 1 });
  const controller = new AbortController();
  const flushed = agent.flush({ timeoutMs: 600_000, signal: controller.signal });
  await rig.clock.advance(10);
  controller.abort();
  t.false(await flushed);
  t.false(await agent.flush({ timeoutMs: 600_000, signal: controller.signal }));
});

for (const [how, end] of [
  ["close()", (agent: Agent) => agent.close()],
  ["`await using` on Node", (agent: Agent) => agent[Symbol.asyncDispose]()],
] as const)
  test(`${how} stops the agent for good and says how many points were lost`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent();
    agent.start();
    const closed = end(agent);
    await rig.clock.advance(5000);
    t.deepEqual(await closed, how === "close()" ? { lostPoints: 0 } : undefined);
    t.throws(() => agent.start(), { code: "STOPPED" });
  });

test("a call that was aborted before it could be sent is never sent", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.platform.fault = () => "drop";
  const controller = new AbortController();
  const { signal } = controller;
  const calls = [
    agent.claim({ signal, timeoutMs: 600_000 }),
    agent.rpc.call("getCurrentTime", {}, { signal, timeoutMs: 600_000 }),
  ].map((call) => call.catch(() => {}));
  await rig.clock.advance(20_000);
  controller.abort();
  await Promise.all(calls);
  rig.platform.fault = undefined;
  const before = rig.platform.seen.length;
  await rig.clock.advance(120_000);
  const later = rig.platform.seen
    .slice(before)
    .filter(({ path, method }) => /claim$|rpc$/.test(path) && method === "POST");
  t.deepEqual(later, []);
});

// What damage leaves in the store is no reason not to start.

const MINUTE = 60_000;

/** What damage makes of a stored value. */
const DAMAGES: Readonly<Record<string, (value: Uint8Array) => Uint8Array>> = {
  nothing: () => new Uint8Array(0),
  zero: (value) => value.map(() => 0),
  "what erased flash reads": (value) => value.map(() => 0xff),
  half: (value) => value.subarray(0, value.length >> 1),
  "another type": () => Buffer.from("\u0001[[7],null]"),
  "a turned bit": (value) => value.map((byte, at) => (at === value.length >> 1 ? byte ^ 0x80 : byte)),
};

test("whatever damage makes of the store, the agent starts, and is a device again once its old one is gone", async (t) => {
  const rig = startRig(t);
  const start = () => {
    const agent = rig.agent({ connections: 2 });
    agent.rpc.handle("setLed", () => 1);
    agent.attributes.publish({ model: "a" });
    agent.attributes.subscribe("interval", () => {});
    agent.start();
    return agent;
  };
  start();
  await rig.clock.advance(MINUTE);
  rig.platform.setShared(rig.platform.device(NAME), { interval: 5 });
  await rig.clock.advance(MINUTE);
  rig.powerOff();
  const whole = new Map(rig.store.values);
  t.deepEqual([...whole.keys()].sort(), ["pending", "shared", "token", "token-old"]);
  for (const [damage, damaged] of Object.entries(DAMAGES)) {
    for (const [key, value] of whole) rig.store.values.set(key, damaged(value));
    const agent = start();
    await rig.clock.advance(MINUTE);
    t.not(agent.state, "online", `${damage}: its name is taken`);
    rig.platform.core.deleteDevice(rig.platform.device(NAME));
    await rig.clock.advance(60 * MINUTE);
    t.is(agent.state, "online", damage);
    rig.powerOff();
  }
});

// Who logs an agent or a report session, whole, logs no secret: fields that hold one have private names of the language, all others are plain.

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

function holdsNo(t: ExecutionContext, secrets: string[], thing: object, host: FakeHost): void {
  for (const secret of secrets) {
    t.deepEqual(waysTo(secret, thing, host), [], secret);
  }
}

test("an agent with a given token, its polls under way", async (t) => {
  const rig = startRig(t);
  const token = "a-token-of-its-own";
  rig.platform.create("given", token);
  const agent = rig.agent({ token, provisioning: undefined });
  agent.start();
  agent.telemetry.record({ a: 1 });
  await rig.clock.advance(3000);
  t.is(details(rig, "online").length, 1);
  holdsNo(t, [token], agent, rig.host);
  t.true(inspect(agent, { depth: 1 }).includes("telemetry"));
});

test("an agent while it provisions itself, and after", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.start();
  holdsNo(t, [SECRET], agent, rig.host);
  for (let i = 0; i < 50; i++) {
    await rig.clock.advance(20);
    holdsNo(t, [SECRET], agent, rig.host);
  }
  t.is(details(rig, "provisioned").length, 1);
  const [, token] = /"token":"(\w{20})"/.exec(Buffer.from(rig.store.get("token")!).toString()) ?? [];
  holdsNo(t, [token!], agent, rig.host);
});

test("a session with its password, its token and the one that renews it, and a client that uses it", async (t) => {
  const clock = new FakeClock();
  const host = fakeHost({ clock, network: new FakeNet(clock) });
  const [token, refreshToken] = [jwt("user"), jwt("refresh")];
  serve(host.net, (request) => request.reply(200, { token, refreshToken }));
  const session = new Session(host, { url: URL, ...USER });
  const reports = new Reports(host, { url: URL, session });
  const asked = session.token();
  await clock.advance(2);
  holdsNo(t, [USER.password], reports, host);
  await clock.advance(5000);
  t.is(await asked, token);
  holdsNo(t, [USER.password, token, refreshToken], reports, host);
});

// Firmware and telemetry of the whole agent on the local platform, in both of its modes; the tests beside this one script the platform's answers.

const _IMAGE = Buffer.alloc(100_000, "an image ");
const _digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

// After an outage of the machine's own network, which the host saw end: everything is tried at once.

/** A network that takes what is sent, and nothing comes back. */
function silenceNetwork(rig: ReturnType<typeof startRig>): () => void {
  const connect = rig.net.onConnect;
  rig.net.onConnect = () => {};
  for (const peer of rig.net.peers)
    if (!peer.closed) Object.assign(peer, { send: () => {}, onData: undefined });
  return () => {
    rig.net.onConnect = connect;
  };
}

for (const connections of [1, 2, 3] as const) {
  test(`${connections} connection(s): back from an outage of 92 s within a second`, async (t) => {
    const rig = startRig(t);
    const agent = rig.agent({ connections });
    const runs: unknown[] = [];
    agent.rpc.handle("setLed", (params) => runs.push(params));
    agent.start();
    await rig.clock.runUntil(() => agent.state === "online");
    await rig.clock.advance(5000);
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
    const results = rig.platform.rpc(rig.platform.device(NAME), "setLed", { on: 1 }, { timeoutMs: 40_000 });
    await rig.clock.advance(connections === 1 ? 30_000 : 2000);
    t.is(results[0]?.kind, "answer");
    t.deepEqual(runs, [{ on: 1 }]);
    t.is(details(rig, "offline").length, 1);
  });
}

test("a device without a token asks for one at once", async (t) => {
  const rig = startRig(t);
  const back = silenceNetwork(rig);
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(600_000);
  t.is(rig.platform.seen.length, 0);
  back();
  agent.networkReturned();
  await rig.clock.advance(1000);
  t.is(agent.state, "online");
});

test("while the platform answers, and while the agent was stopped, it changes nothing", async (t) => {
  const rig = startRig(t);
  const agent = rig.agent();
  agent.networkReturned();
  t.is(agent.state, "stopped");
  agent.start();
  await rig.clock.advance(5000);
  const connected = rig.net.peers.length;
  const asked = rig.platform.seen.length;
  agent.networkReturned();
  await rig.clock.advance(100);
  t.is(rig.net.peers.length, connected);
  t.is(rig.platform.seen.length, asked);
});

test("a network that returns before a platform that is away: tried once, then ever more slowly as ever", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 2 });
  silenceNetwork(rig);
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(600_000);
  const after = async (ms: number) => {
    const before = rig.net.peers.length;
    await rig.clock.advance(ms);
    return rig.net.peers.length - before;
  };
  agent.networkReturned();
  t.true((await after(1000)) >= 1);
  await rig.clock.advance(1_800_000);
  const late = await after(1_800_000);
  t.true(late <= 30, `${late}`);
});

// An application, a crash and a platform that quote a secret: what of it leaves the device, and by which way.

const utf8 = (text: string): Buffer => Buffer.from(text);

/** As an application may come to quote it. */
const FORMS: Readonly<Record<string, (secret: string) => string>> = {
  "as it is": (secret) => secret,
  "in an address": (secret) => `GET /api/v1/${encodeURIComponent(secret)}/rpc`,
  "in JSON": (secret) => JSON.stringify({ token: secret }),
  "in base64": (secret) => utf8(`Basic:${secret}`).toString("base64"),
  "in base64url": (secret) => utf8(secret).toString("base64url"),
  "in hexadecimal digits": (secret) => utf8(secret).toString("hex"),
  "in capitals": (secret) => secret.toUpperCase(),
};

async function online(rig: Rig): Promise<{ agent: Agent; token: string }> {
  const agent = rig.agent();
  agent.start();
  await rig.clock.advance(5000);
  return { agent, token: rig.platform.device(NAME).credentials.credentialsId };
}

async function call(rig: Rig, method: string): Promise<string> {
  const results = rig.platform.rpc(rig.platform.device(NAME), method, {});
  await rig.clock.advance(3000);
  return JSON.stringify(results);
}

test("what a handler throws or returns shows no secret", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  for (const [form, make] of Object.entries(FORMS))
    for (const secret of [token, KEY, SECRET]) {
      agent.rpc.handle("fails", () => {
        throw new Error(`no answer to ${make(secret)}`);
      });
      agent.rpc.handle("tells", () => ({ sent: [make(secret)], [make(secret)]: 1, ok: true }));
      const failed = await call(rig, "fails");
      const told = await call(rig, "tells");
      t.regex(failed, /HANDLER_FAILED.*\*\*\*/, form);
      t.regex(told, /\*\*\*.*ok/, form);
      for (const shown of [failed, told]) t.false(shown.includes(make(secret).slice(0, 12)), form);
    }
});

test("a method that quotes a secret is shown by no answer, line or error", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  for (const [form, make] of Object.entries(FORMS)) {
    const method = make(token);
    const unknown = await call(rig, method);
    t.regex(unknown, /METHOD_NOT_FOUND/, form);
    t.false(unknown.includes(method), form);
    for (const misuse of [
      () => agent.rpc.handle(method, undefined as never),
      () => agent.rpc.handle(method, () => 1, { timeoutMs: -1 }),
    ]) {
      const error = t.throws(misuse);
      t.false(error.message.includes(method), form);
      t.true(error.message.includes("***"), form);
    }
    t.false(rig.host.lines.join().includes(method), form);
  }
});

test("what is published or recorded shows no secret, and all else as it is", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  const device = rig.platform.device(NAME);
  for (const [form, make] of Object.entries(FORMS)) {
    agent.attributes.publish({ quoted: { was: make(token) }, plain: `${form}, nothing else` });
    for (const secret of [token, SECRET]) agent.telemetry.record({ text: make(secret), mode: "auto", n: 1 });
    await rig.clock.advance(20_000);
    t.deepEqual(rig.platform.attributes(device).quoted, { was: "***" }, form);
    t.is(rig.platform.attributes(device).plain, `${form}, nothing else`);
  }
  t.deepEqual([...new Set(rig.platform.points(device, "text").map(({ value }) => value))], ["***"]);
  t.deepEqual([...new Set(rig.platform.points(device, "mode").map(({ value }) => value))], ["auto"]);
});

test("an attribute that was published before its secret was known is cleaned when it is sent", async (t) => {
  const rig = startRig(t);
  const before = rig.agent();
  before.attributes.publish({ quoted: "a password that comes later" });
  await before.stop();
  const agent = rig.agent();
  rig.host.redactor.conceal("password that comes later");
  agent.start();
  await rig.clock.advance(20_000);
  t.is(rig.platform.attributes(rig.platform.device(NAME)).quoted, "***");
});

test("a crash that quotes a secret is reported without it", async (t) => {
  for (const [form, make] of Object.entries(FORMS)) {
    const rig = startRig(t);
    const { token } = await online(rig);
    const device = rig.platform.device(NAME);
    for (let crashes = 0; crashes < 6; crashes++) {
      rig.powerOff();
      const agent = rig.agent();
      const crash = `panic: Error: no connection with ${make(token)}; connect, run`;
      const recovery = new Recovery({ ...rig.host, lastRun: { reset: "panic", crash } }, "1");
      recovery.attach(agent);
      agent.start();
      await rig.clock.advance(5000);
      recovery.close();
    }
    const shown = String(rig.platform.attributes(device).moteRecovery);
    t.regex(shown, /^panic: Error: no connection with .*\*\*\*.* connect, run$/, form);
    t.false(shown.includes(make(token).slice(-12)), form);
    t.false(rig.host.lines.join().includes(make(token)));
  }
});

test("a cut crash text, of which half a secret is left, is not shown either", async (t) => {
  const rig = startRig(t);
  const { token } = await online(rig);
  rig.powerOff();
  const agent = rig.agent();
  const crash = `${"x".repeat(200 - token.length)} ${token}`.slice(0, 192);
  const recovery = new Recovery({ ...rig.host, lastRun: { reset: "panic", crash, crashes: 5 } }, "1");
  recovery.attach(agent);
  agent.start();
  await rig.clock.advance(5000);
  recovery.close();
  t.regex(recovery.cause, /^x+ \*\*\*$/);
  t.regex(String(rig.platform.attributes(rig.platform.device(NAME)).moteRecovery), /^x+ \*\*\*$/);
});

test("no error that the application gets quotes a secret", async (t) => {
  const rig = startRig(t);
  const { agent, token } = await online(rig);
  const error = t.throws(() => agent.attributes.publish({ [token]: Number.NaN }));
  t.false(error.message.includes(token));
  t.is((error as { code?: string }).code, "BAD_VALUE");
});

// While the platform answers 401 to the token, whatever the application asked for waits until the token is good again.

/** A device that is online, on a platform that forgets the token for now. `isMet`: requests that meet it. */
async function forgotten(
  t: ExecutionContext,
  connections: 1 | 2 | 3,
  isMet: (request: SeenRequest) => boolean = () => true,
): Promise<{ rig: Rig; agent: Agent; remember: () => void; met: SeenRequest[] }> {
  const { rig, agent } = await startOnline(t, { connections });
  rig.platform.setShared(rig.platform.device(NAME), { interval: 7 });
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
  test(`${connections} connection(s): read, call and claim wait while the token is unknown, then get their answer`, async (t) => {
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
    const ended = await calls;
    t.deepEqual(
      ended.map(({ status }) => status),
      ["fulfilled", "fulfilled", "fulfilled"],
      JSON.stringify(ended),
    );
    t.like(ended[0], { value: { shared: { interval: 7 } } });
    const sent = rig.platform.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/rpc"));
    t.is(sent.length - met.filter((request) => sent.includes(request)).length, 1, "the platform ran it once");
  });
}

test("a call whose time runs out while the token is unknown ends with TIMEOUT", async (t) => {
  const { rig, agent } = await forgotten(t, 3);
  const read = t.throwsAsync(agent.attributes.read({ timeoutMs: 20_000 }), { code: "TIMEOUT" });
  const call = t.throwsAsync(agent.rpc.call("getCurrentTime", {}, { timeoutMs: 20_000 }), {
    code: "TIMEOUT",
  });
  await rig.clock.advance(20_001);
  await Promise.all([read, call]);
});

test("a stop ends a call that waits for the token", async (t) => {
  const { rig, agent } = await forgotten(t, 3);
  const read = t.throwsAsync(agent.attributes.read(), { code: "STOPPED" });
  await rig.clock.advance(1000);
  const stopped = agent.stop();
  await rig.clock.advance(0);
  await Promise.all([read, stopped]);
});

test("points, attributes and RPCs that met a 401 reach the platform once the token is good again", async (t) => {
  const { rig, agent, remember } = await forgotten(t, 3);
  let ran = 0;
  agent.rpc.handle("setLed", () => ++ran);
  agent.telemetry.record({ n: 1 });
  agent.attributes.publish({ serial: "A1" });
  await rig.clock.advance(5000);
  const results = rig.platform.rpc(rig.platform.device(NAME), "setLed", null, { timeoutMs: 600_000 });
  remember();
  await rig.clock.advance(600_000);
  t.is(rig.platform.latest(rig.platform.device(NAME), "n"), 1);
  t.is(rig.platform.attributes(rig.platform.device(NAME)).serial, "A1");
  t.is(ran, 1);
  t.is(results.length, 1);
  t.deepEqual(details(rig, "drop"), []);
});

test("an answer to an RPC that met a 401 is posted again only when the platform hands the RPC out again", async (t) => {
  const { rig, agent, remember, met } = await forgotten(t, 3, ({ path }) => path.includes("/rpc/"));
  let ran = 0;
  agent.rpc.handle("setLed", () => ++ran);
  const device = rig.platform.device(NAME);
  const results = rig.platform.rpc(device, "setLed", null, { timeoutMs: 8000 });
  await rig.clock.advance(500);
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
