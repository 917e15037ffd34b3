// Something on the way resets the connection on a body that it dislikes, or never answers: nothing
// behind that body may wait for ever, and nothing is given up that a bad link lost.

import { lost, type Outcome } from "../../../src/http/outcome.js";
import type { Agent } from "../../../src/index.js";
import { BodySender } from "../../../src/platform/body-sender.js";
import { post } from "../../../src/platform/requests.js";
import type { PlatformSession } from "../../../src/platform/session.js";
import { FakeClock } from "../../fakes/clock.js";
import { randomBytes } from "../../fakes/host.js";
import type { Fault } from "../../fakes/platform.js";
import type { SeenRequest } from "../../fakes/server.js";
import { details, type Rig, startOnline, test, watch } from "./rig.js";
import { Sleeper } from "./sleeper.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const isTelemetry = ({ method, path }: SeenRequest) => method === "POST" && path.endsWith("/telemetry");
const isTest = ({ path }: SeenRequest) => path.includes("?sharedKeys=fw_version");
const hasPoints = (request: SeenRequest) => isTelemetry(request) && request.body.includes('"n":');

/** What becomes of a body that something on the way dislikes. */
const LOSSES: Readonly<Record<string, Fault>> = {
  "a reset": "drop",
  "no answer": "hang",
  "a page": { status: 200, body: "<html>blocked</html>" },
};

/** 0 (inclusive) to 1 (exclusive). */
function randomFrom(seed: number): () => number {
  const random = randomBytes(seed);
  return () => (random() * 256 + random()) / 65_536;
}

/** Bodies above `limit` bytes get `fault`. */
function limitBodies(rig: Rig, limit: number, fault: Fault = "drop"): void {
  rig.platform.fault = ({ method, body }) =>
    method === "POST" && Buffer.byteLength(body, "latin1") > limit ? fault : undefined;
}

const sizeOf = (n: number, text: string) => JSON.stringify([{ ts: 1e12, values: { n, text } }]).length;
const arrived = (rig: Rig) => rig.values("n");

/** The numbers of the recorded points that fit the limit alone, and of those that do not. */
function recordRandom(agent: Agent, random: () => number, count: number, limit: number) {
  const good: number[] = [];
  const bad: number[] = [];
  for (let n = 0; n < count; n++) {
    const isBad = random() < 0.03;
    let text = "x".repeat(isBad ? limit * (1 + random()) : random() * 150);
    // Not so near to the limit that the brackets decide.
    while (!isBad && sizeOf(n, text) > limit - 60) text = text.slice(9);
    agent.telemetry.record({ n, text });
    (isBad ? bad : good).push(n);
  }
  return { good, bad };
}

for (const [loss, fault] of Object.entries(LOSSES))
  for (let seed = 1; seed <= 5; seed++)
    test(`telemetry: only points above the limit are dropped after ${loss} (seed ${seed})`, async (t) => {
      const random = randomFrom(seed);
      const connections = (1 + (seed % 3)) as 1 | 2 | 3;
      const { rig, agent } = await startOnline(t, { connections });
      const limit = Math.round(400 + 1600 * random());
      limitBodies(rig, limit, fault);
      const { good, bad } = recordRandom(agent, random, 100, limit);
      await rig.clock.runUntil(() => agent.telemetry.waiting === 0, 3 * HOUR);
      t.deepEqual(arrived(rig), good, `limit ${limit}`);
      t.deepEqual(agent.telemetry.dropped, { full: 0, refused: bad.length, unreadable: 0 });
    });

test("telemetry behind one text that is reset arrives within two minutes", async (t) => {
  const { rig, agent } = await startOnline(t);
  limitBodies(rig, 2048);
  agent.telemetry.record({ n: 0, text: "x".repeat(3000) });
  await rig.clock.advance(1000);
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(2 * MINUTE);
  t.deepEqual(arrived(rig), [1]);
  t.is(agent.telemetry.dropped.refused, 1);
});

test("a text that nobody answers holds shared attributes up for less than a minute and a half", async (t) => {
  const { rig, agent } = await startOnline(t, { connections: 2 });
  rig.platform.fault = ({ method, body }) => (method === "POST" && body.includes("bad") ? "hang" : undefined);
  const seen = watch(agent);
  agent.telemetry.record({ n: 0, text: "bad" });
  let longestMs = 0;
  for (let n = 1; agent.telemetry.waiting > 0; n++) {
    rig.platform.setShared(rig.device, { interval: n });
    const since = rig.clock.now();
    await rig.clock.runUntil(() => seen.at(-1) === n, HOUR);
    longestMs = Math.max(longestMs, rig.clock.now() - since);
    await rig.clock.advance(1000 * n);
  }
  t.true(longestMs < 1.5 * MINUTE, `${longestMs}`);
  t.is(agent.telemetry.dropped.refused, 1);
});

for (const [loss, fault] of Object.entries(LOSSES))
  test(`client attributes: the one that gets ${loss} is dropped, the others arrive`, async (t) => {
    const { rig, agent } = await startOnline(t);
    limitBodies(rig, 700, fault);
    agent.attributes.publish({ a: 1, note: "x".repeat(800), b: 2, c: "y".repeat(400), d: "z".repeat(400) });
    await rig.clock.advance(30 * MINUTE);
    const { a, b, c, d, note } = rig.platform.attributes(rig.device);
    t.deepEqual([a, b, String(c).length, String(d).length, note], [1, 2, 400, 400, undefined]);
    t.is(rig.host.lines.filter((line) => line.includes("refuses a client attribute")).length, 1);
  });

for (const [loss, fault] of Object.entries(LOSSES))
  test(`RPC: an answer that gets ${loss} becomes ANSWER_TOO_LARGE, and the next RPC comes`, async (t) => {
    const { rig, agent } = await startOnline(t);
    let runs = 0;
    agent.rpc.handle("list", () => {
      runs++;
      return "x".repeat(3000);
    });
    agent.rpc.handle("ping", () => "pong");
    limitBodies(rig, 2048, fault);
    const list = await rig.call("list", {}, 1000, { timeoutMs: 5 * MINUTE });
    const ping = await rig.call("ping", {}, 3 * MINUTE, { timeoutMs: 5 * MINUTE });
    t.regex(JSON.stringify(list), /^\[\{"kind":"answer".*ANSWER_TOO_LARGE/);
    t.deepEqual(ping, [{ kind: "answer", text: '"pong"' }]);
    t.is(runs, 1);
  });

for (const [loss, fault] of Object.entries(LOSSES))
  test(`a client-side RPC or a claim that gets ${loss} ends by its time limit, and holds nothing up`, async (t) => {
    const { rig, agent } = await startOnline(t);
    agent.rpc.handle("ping", () => "pong");
    limitBodies(rig, 700, fault);
    const since = rig.clock.now();
    const ends: string[] = [];
    const noteEnd = (what: string, call: Promise<unknown>) =>
      call.catch(({ code }) => ends.push(`${what} ${code} ${rig.clock.now() - since <= MINUTE}`));
    const calls = [
      noteEnd("call", agent.rpc.call("list", { text: "x".repeat(800) }, { timeoutMs: MINUTE })),
      noteEnd("claim", agent.claim({ secretKey: "x".repeat(800), timeoutMs: MINUTE })),
    ];
    agent.telemetry.record({ n: 1 });
    agent.attributes.publish({ a: 1 });
    const ping = await rig.call("ping", {}, MINUTE + 1, { timeoutMs: MINUTE });
    await Promise.all(calls);
    t.deepEqual(
      ends.map((end) => end.split(" ").at(-1)),
      ["true", "true"],
      `${ends}`,
    );
    t.deepEqual(ping, [{ kind: "answer", text: '"pong"' }]);
    t.deepEqual(arrived(rig), [1]);
    t.is(rig.platform.attributes(rig.device).a, 1);
    const sent = rig.platform.seen.filter(({ path, method }) => method === "POST" && path.endsWith("/rpc"));
    t.is(sent.length, 1, "the platform may have run it");
    t.truthy(await rig.clock.untilSettled(agent.rpc.call("getCurrentTime", {}), MINUTE));
  });

test("a sleeping device finds the text that is reset over its wakes", async (t) => {
  const sleeper = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1 } });
  const { rig } = sleeper;
  await sleeper.wake();
  limitBodies(rig, 2048);
  sleeper.setUp = (agent) => {
    sleeper.setUp = () => {};
    agent.telemetry.record({ n: -1, text: "x".repeat(3000) });
  };
  for (let i = 0; i < 6; i++) await sleeper.wake({ connect: true, timeoutMs: 15_000 });
  await sleeper.wakes(6);
  t.deepEqual(sleeper.points.slice(0, 7), [0, 1, 2, 3, 4, 5, 6]);
  t.is(rig.platform.latest(rig.device, "moteDroppedRefused"), 1);
});

for (const [loss, fault] of Object.entries(LOSSES))
  test(`a sleeping device drops the text that gets ${loss} over its wakes, and no other`, async (t) => {
    const sleeper = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1 } });
    const { rig } = sleeper;
    await sleeper.wake();
    limitBodies(rig, 2048, fault);
    sleeper.setUp = (agent) => {
      sleeper.setUp = () => {};
      agent.telemetry.record({ n: -1, text: "x".repeat(3000) });
    };
    for (let i = 0; i < 60 && rig.platform.latest(rig.device, "moteDroppedRefused") === undefined; i++)
      await sleeper.wake({ connect: true });
    t.is(rig.platform.latest(rig.device, "moteDroppedRefused"), 1);
    await sleeper.wake({ connect: true });
    t.is(sleeper.last!.waiting, 0);
    t.deepEqual(sleeper.points, [...sleeper.points.keys()], "all others");
    t.true(sleeper.kept!.length < 500);
  });

for (const [loss, fault] of Object.entries(LOSSES))
  test(`a sleeping device drops the attribute that gets ${loss} over its wakes, and no other`, async (t) => {
    const sleeper = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1 } });
    const { rig } = sleeper;
    await sleeper.wake();
    limitBodies(rig, 700, fault);
    sleeper.setUp = (agent) => {
      sleeper.setUp = () => {};
      agent.attributes.publish({ a: 1, note: "x".repeat(800), b: 2 });
    };
    for (let i = 0; i < 40 && rig.platform.attributes(rig.device).b === undefined; i++)
      await sleeper.wake({ connect: true });
    const { a, b, note } = rig.platform.attributes(rig.device);
    t.deepEqual([a, b, note], [1, 2, undefined]);
    t.is(rig.host.lines.filter((line) => line.includes("refuses a client attribute")).length, 1);
  });

for (const status of [429, 500, 503])
  test(`a sleeping device drops the point that always gets ${status} over its wakes, and no other`, async (t) => {
    const sleeper = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1 } });
    const { rig } = sleeper;
    await sleeper.wake();
    let isBusy = false;
    rig.platform.fault = ({ method, body }) =>
      method === "POST" && (body.includes("bad") || isBusy) ? { status } : undefined;
    sleeper.setUp = (agent) => {
      sleeper.setUp = () => {};
      agent.telemetry.record({ n: -1, text: "bad" });
    };
    for (let i = 0; i < 60 && rig.platform.latest(rig.device, "moteDroppedRefused") === undefined; i++)
      await sleeper.wake({ connect: true });
    t.is(rig.platform.latest(rig.device, "moteDroppedRefused"), 1);
    isBusy = true;
    await sleeper.wakes(150, { connect: true });
    isBusy = false;
    await sleeper.wakes(100, { connect: true });
    t.is(sleeper.last!.waiting, 0);
    t.is(rig.platform.latest(rig.device, "moteDroppedRefused"), 1);
    t.deepEqual(sleeper.points, [...sleeper.points.keys()], "all others");
    t.true(sleeper.kept!.length < 500);
  });

test("a sleeping device halves a batch that nobody answers within a wake", async (t) => {
  const sleeper = new Sleeper(t, { cycle: { everyMs: MINUTE, connectEvery: 1 } });
  const { rig } = sleeper;
  await sleeper.wake();
  limitBodies(rig, 600, "hang");
  sleeper.setUp = (agent) => {
    sleeper.setUp = () => {};
    for (let n = 100; n < 120; n++) agent.telemetry.record({ n, text: "x".repeat(100) });
  };
  await sleeper.wake({ connect: true });
  for (let i = 0; i < 100 && sleeper.last!.waiting > 0; i++) await sleeper.wake();
  t.is(sleeper.points.length, 20 + sleeper.points.filter((n) => Number(n) < 100).length);
  t.is(sleeper.last!.waiting, 0);
});

// Nothing is given up by less.

for (const [loss, fault] of Object.entries(LOSSES))
  test(`no point or attribute is dropped while every POST gets ${loss}`, async (t) => {
    const { rig, agent } = await startOnline(t);
    rig.platform.fault = ({ method }) => (method === "POST" ? fault : undefined);
    agent.attributes.publish({ serial: "A-113", place: "shed" });
    for (let n = 0; n < 20; n++) agent.telemetry.record({ n });
    await rig.clock.advance(3 * HOUR);
    const seen = rig.platform.seen.filter(hasPoints).length;
    t.true(seen < 100, `${seen} attempts`);
    rig.platform.fault = undefined;
    await rig.clock.advance(15 * MINUTE);
    t.deepEqual(arrived(rig).length, 20);
    t.is(agent.telemetry.dropped.refused, 0);
    t.like(rig.platform.attributes(rig.device), { serial: "A-113", place: "shed" });
  });

for (let seed = 1; seed <= 10; seed++)
  test(`no point or attribute is dropped on a link that loses every other request (seed ${seed})`, async (t) => {
    const random = randomFrom(seed);
    const { rig, agent } = await startOnline(t);
    const share = 0.3 + 0.4 * random();
    rig.platform.fault = ({ method, path }) => {
      const isPoll = method === "GET" && path.includes("timeout=");
      if (isPoll || random() > share) return undefined;
      return random() < 0.7 ? "drop" : "hang";
    };
    for (let n = 0; n < 100; n++) {
      agent.telemetry.record({ n, text: "x".repeat(random() * 500) });
      if (n % 10 === 0) agent.attributes.publish({ count: n });
      await rig.clock.advance(20_000 * random());
    }
    await rig.clock.advance(HOUR);
    rig.platform.fault = undefined;
    await rig.clock.advance(15 * MINUTE);
    t.is(new Set(arrived(rig)).size, 100);
    t.is(agent.telemetry.dropped.refused, 0);
    t.is(rig.platform.attributes(rig.device).count, 90);
  });

test("no point is dropped because it takes too long on a slow link", async (t) => {
  const { rig, agent } = await startOnline(t);
  // 3 KB take 55 s up, the test takes 3 s.
  let bytesPerMs = 0.06;
  const serve = rig.net.onConnect!;
  rig.net.onConnect = (peer) => {
    serve(peer);
    const { onData } = peer;
    let freeAt = 0;
    peer.onData = (bytes) => {
      freeAt = Math.max(freeAt, rig.clock.now()) + bytes.length / bytesPerMs;
      rig.clock.timer(freeAt - rig.clock.now(), () => !peer.closed && onData?.(bytes));
    };
  };
  for (const peer of rig.net.peers) peer.reset();
  agent.telemetry.record({ n: 0, text: "x".repeat(3000) });
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(2 * HOUR);
  t.is(agent.telemetry.dropped.refused, 0);
  bytesPerMs = 10;
  await rig.clock.advance(15 * MINUTE);
  t.deepEqual(arrived(rig), [0, 1]);
});

test("a body that no link is fast enough for is dropped, and blocks no other", async (t) => {
  const { rig, agent } = await startOnline(t);
  // The test takes so long that a larger body might take longer than its deadline.
  rig.net.options.latencyMs = 2500;
  limitBodies(rig, 1500, "hang");
  for (const peer of rig.net.peers) peer.reset();
  agent.telemetry.record({ n: 0, text: "x".repeat(3000) });
  agent.telemetry.record({ n: 1 });
  await rig.clock.advance(2 * HOUR);
  t.deepEqual(arrived(rig), [1]);
  t.is(agent.telemetry.dropped.refused, 1);
});

test("an attribute that met a rate limit once is not dropped when it meets one again days later", async (t) => {
  const { rig, agent } = await startOnline(t);
  let refusals = 1;
  rig.platform.fault = ({ method, body }) =>
    method === "POST" && body.includes('"auto"') && refusals-- > 0 ? { status: 429 } : undefined;
  agent.attributes.publish({ mode: "auto" });
  await rig.clock.advance(5 * MINUTE);
  agent.attributes.publish({ mode: "manual" });
  await rig.clock.advance(48 * HOUR);
  refusals = 2;
  agent.attributes.publish({ mode: "auto" });
  await rig.clock.advance(10 * MINUTE);
  t.is(rig.platform.attributes(rig.device).mode, "auto");
});

test("an outage that resets connections drops nothing and is reported once", async (t) => {
  const { rig, agent } = await startOnline(t);
  rig.net.onConnect = (peer) => {
    peer.onData = () => peer.reset();
  };
  for (const peer of rig.net.peers) peer.reset();
  for (let n = 0; n < 20; n++) agent.telemetry.record({ n, text: "x".repeat(300) });
  await rig.clock.advance(12 * HOUR);
  t.is(agent.telemetry.waiting, 20);
  t.is(agent.telemetry.dropped.refused, 0);
  t.true(details(rig, "offline").length <= 2);
});

test("after an outage that refuses connections, points and answers come at once and whole", async (t) => {
  const { rig, agent } = await startOnline(t);
  agent.rpc.handle("list", () => "x".repeat(3000));
  rig.net.onConnect = ((serve) => (peer) => {
    if (rig.clock.now() < 60_000) return peer.reset("connection refused") ?? false;
    return serve?.(peer);
  })(rig.net.onConnect);
  // The polls stay open.
  for (const peer of rig.net.peers) if (!peer.received.includes("timeout=")) peer.reset();
  agent.telemetry.record({ n: 0, text: "x".repeat(1000) });
  const list = await rig.call("list", {}, 5 * MINUTE, { timeoutMs: 5 * MINUTE });
  t.deepEqual(list, [{ kind: "answer", text: `"${"x".repeat(3000)}"` }]);
  t.deepEqual(arrived(rig), [0]);
  t.false(rig.platform.seen.some(isTest));
});

test("only losses with an answered test after each count", async (t) => {
  const clock = new FakeClock();
  const done: Outcome = { kind: "done", status: 200, body: new Uint8Array(0), whole: true, date: undefined };
  const busy: Outcome = { kind: "busy", status: 503, retryAfterMs: undefined };
  const sent = lost("connection reset", true);
  const script: Outcome[] = [];
  const nothing = () => {};
  const pacer = { ready: async () => {}, after: nothing, pause: nothing, slow: nothing, hold: nothing };
  const lines: string[] = [];
  const host = { clock, log: (_: string, line: string) => lines.push(line) };
  const connections = { longestBodyMs: 60_000 };
  const session = {
    ...{ running: true, host, connections, redactor: { clean: String } },
    ...{ pacer: () => pacer, send: async () => script.shift()! },
  } as unknown as PlatformSession;
  const MOST = 50;
  const probe = () => post("telemetry", new Uint8Array(1));
  const bodies = new BodySender(session, "telemetry", MOST, { probe });
  /** `refused`: the next body is smaller, or a single one was probed. */
  const send = async (name: string, ...outcomes: Outcome[]) => {
    const probed: Outcome = { kind: "busy", status: 503, retryAfterMs: undefined };
    script.push(...outcomes, probed);
    bodies.size = MOST;
    t.is(await bodies.send(post("telemetry", new Uint8Array(9)), name === "" ? MOST : 1, name), "again");
    const isProbed = script.length === 0;
    script.length = 0;
    return isProbed || bodies.size < MOST ? "refused" : "lost";
  };
  for (const end of [
    [sent, lost("connection reset")],
    [sent, busy],
  ]) {
    t.is(await send("", sent, done), "lost");
    t.is(await send("", sent, done), "lost");
    t.is(await send("", ...end), "lost");
  }
  t.is(await send("", sent, done), "lost");
  t.is(await send("", sent, done), "lost");
  t.is(await send("", busy), "refused", "smaller, as it is busy");
  t.is(await send("", sent, done), "lost");
  t.is(await send("", sent, done), "lost");
  t.is(await send("", lost("connection refused")), "lost");
  for (const [body, losses] of [
    ["a", 9],
    ["", 2],
    ["b", 9],
  ] as const) {
    for (let n = 0; n < losses; n++) t.is(await send(body, sent, done), "lost", `${body} ${n}`);
    t.is(await send(body, sent, done), "refused");
    t.is(await send(body, sent, done), "refused");
  }
  t.deepEqual(lines, [
    "9 bytes were lost again and again (connection reset), but the platform answers smaller requests",
  ]);
});
