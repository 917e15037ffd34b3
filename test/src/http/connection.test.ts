import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import test from "ava";
import { Connection } from "../../../src/http/connection.js";
import type { Outcome } from "../../../src/http/outcome.js";
import type { Request } from "../../../src/http/request.js";
import type { Host, Socket, SocketEvent } from "../../../src/port.js";
import { Secret } from "../../../src/wire/secret.js";
import { type FakeHost, fakeHost } from "../../fakes/host.js";
import type { NetOptions, Peer } from "../../fakes/net.js";
import { answer, serve } from "../../fakes/server.js";
import { answering, bodyOf, GET, isLost, POST, rig, sendOn, TARGET, targetOf } from "./rig.js";

test("a request leaves in one write, head and body", async (t) => {
  const { host, connection } = answering();
  const outcome = await sendOn(host, connection, POST);
  t.is(outcome.kind, "done");
  t.is(host.net.last.writes.length, 1);
  t.is(
    host.net.last.received,
    "POST /base/x HTTP/1.1\r\nHost: platform.example:8080\r\nUser-Agent: mote\r\n" +
      'Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}',
  );
  await sendOn(host, connection, { ...GET, method: "POST" });
  t.regex(
    host.net.last.received,
    /POST \S+ HTTP\/1.1\r\nHost: \S+\r\nUser-Agent: mote\r\nContent-Length: 0\r\n\r\n$/,
  );
});

test("a socket that takes a few bytes at a time gets all of them, in order", async (t) => {
  for (const writeBytes of [1, 7, 100]) {
    const { host, connection } = rig({ writeBytes });
    let sentAt = 0;
    const seen = serve(host.net, (request) => request.reply(200, { ok: true }));
    const sent = () => {
      t.is(host.net.last.received.length, host.net.last.received.indexOf("{") + 7);
      sentAt++;
    };
    t.is(bodyOf(await sendOn(host, connection, { ...POST, sent })), '{"ok":true}');
    t.is(seen[0]?.body, '{"a":1}');
    t.is(sentAt, 1);
  }
});

test("requests go out one after the other, on one connection", async (t) => {
  const { host, connection } = rig();
  const seen = serve(host.net, ({ reply, path }) => void host.clock.timer(100, () => reply(200, { path })));
  const ends: string[] = [];
  for (const path of ["/1", "/2", "/3"])
    connection.send({ ...GET, path }, (outcome) => ends.push(bodyOf(outcome)));
  await host.clock.advance(50);
  t.is(seen.length, 1);
  await host.clock.runUntil(() => ends.length === 3);
  t.deepEqual(ends, ['{"path":"/base/1"}', '{"path":"/base/2"}', '{"path":"/base/3"}']);
  t.is(host.net.peers.length, 1);
});

test("done is never called from within send, whatever is wrong, and what it throws goes no further", async (t) => {
  const { host, connection } = answering();
  const outcomes: Outcome[] = [];
  const push = (outcome: Outcome) => outcomes.push(outcome);
  connection.send({ ...GET, path: "/a b" }, push);
  t.is(outcomes.length, 0);
  await host.clock.advance(1);
  isLost(t, outcomes[0], "request not escaped");
  const fail = () => {
    throw new Error("secret");
  };
  connection.send({ ...GET, sent: fail }, fail);
  for (let i = 0; i < 33; i++) connection.send(GET, push);
  await host.clock.advance(0);
  isLost(t, outcomes[1], "too many requests wait");
  await host.clock.advance(100);
  t.is(outcomes.filter(({ kind }) => kind === "done").length, 32);
  t.deepEqual(host.lines, [
    "error: net: a job failed when told that its request was sent",
    "error: net: a job failed at the end of its request",
  ]);
  connection.close();
  connection.send(GET, push);
  t.is(outcomes.length, 34);
  await host.clock.advance(1);
  isLost(t, outcomes[34], "stopped");
});

test("further headers leave as they were given; one that could begin another leaves nothing", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ headers, reply }) => reply(200, JSON.stringify(headers.jwt ?? null)));
  t.is(bodyOf(await sendOn(host, connection, { ...POST, headers: ["a: 1", "jwt: a.b-c_d="] })), '"a.b-c_d="');
  for (const header of ["jwt: a\r\nEvil: 1", "jwt: a\n", "jwt:a", "jwt: ", ": a", "jwt: \u00e4", ""])
    isLost(t, await sendOn(host, connection, { ...POST, headers: ["a: 1", header] }), "request not escaped");
});

test("a credential goes out on the connection that it is bound to, and on no other", async (t) => {
  const own = { scheme: "https", address: "platform.example:8080/base", authorities: "own" } as const;
  const paths: string[] = [];
  const connect = (url: string, authorities: string): [FakeHost, Connection] => {
    const host = fakeHost();
    serve(host.net, ({ path, reply }) => {
      paths.push(path);
      reply(200, "{}");
    });
    return [host, new Connection({ ...host, authorities }, targetOf(url))];
  };
  const credential = new Secret("/api/v1/TOKEN/", own);
  const request = { ...GET, path: "x", credential };
  for (const [url, authorities] of [
    ["http://platform.example:8080/base", "own"],
    ["https://platform.example/base", "own"],
    ["https://other.example:8080/base", "own"],
    ["https://platform.example:8080/", "own"],
    ["https://platform.example:8080/base", "other"],
    ["https://platform.example:8080/base", ""],
  ] as const) {
    const [host, connection] = connect(url, authorities);
    isLost(t, await sendOn(host, connection, request), "the credential is bound to another address or CA");
    t.is(host.net.peers.length, 0, "before a byte is sent");
  }
  const [host, connection] = connect("https://platform.example:8080/base", "own");
  t.is((await sendOn(host, connection, request)).kind, "done");
  t.deepEqual(paths, ["/base/api/v1/TOKEN/x"]);
  for (const text of ["/api/v1/a b/", "/api/v1/a\r\nEvil: 1/", "api/v1/a/"])
    isLost(
      t,
      await sendOn(host, connection, { ...request, credential: new Secret(text, own) }),
      "request not escaped",
    );
});

test("a host that throws costs one request and no more", async (t) => {
  const { host } = rig();
  const open = () => {
    throw new Error("no");
  };
  const outcomes: Outcome[] = [];
  new Connection({ ...host, open }, TARGET).send(GET, (outcome) => outcomes.push(outcome));
  t.is(outcomes.length, 0);
  await host.clock.advance(1);
  isLost(t, outcomes[0], "the host cannot open a connection");
});

test("connections that share a buffer get each its own answer, in whatever pieces both come", async (t) => {
  const host = fakeHost();
  serve(host.net, ({ peer, path }) => {
    const text = `HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"${path}"`;
    for (let i = 0; i < text.length; i += 5) host.clock.timer(i, () => peer.send(text.slice(i, i + 5)));
  });
  const buffer = new Uint8Array(16);
  const ends: string[] = [];
  for (const path of ["/a", "/b", "/c"])
    new Connection(host, { ...TARGET, prefix: "" }, buffer).send({ ...GET, path: `${path}1234` }, (outcome) =>
      ends.push(bodyOf(outcome)),
    );
  await host.clock.runUntil(() => ends.length === 3);
  t.deepEqual(ends.sort(), ['"/a1234"', '"/b1234"', '"/c1234"']);
});

test("a connection that the peer closed, or said it would close, is opened again", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(408, "", { Connection: "close" }));
  t.like(await sendOn(host, connection, GET), { kind: "busy", status: 408 });
  const kept = answering();
  await sendOn(kept.host, kept.connection, GET);
  kept.host.net.last.end();
  await kept.host.clock.advance(10);
  await sendOn(host, connection, GET);
  t.is((await sendOn(kept.host, kept.connection, { ...GET, repeatable: false })).kind, "done");
  for (const { net } of [host, kept.host]) t.is(net.peers.length, 2);
});

// What happens to a request whose connection turns out dead, by what the peers do with their last
// request.
for (const [what, change, requests, outcome, connections] of [
  ["a repeatable request is sent once more on a new connection", {}, 2, "done", 2],
  ["a request that must not be sent twice is lost", { repeatable: false }, 2, "connection reset", 1],
  ["no request is sent a third time", {}, 1, "connection reset", 2],
  ["no request is sent again on a first connection", {}, 0, "connection reset", 1],
] as const)
  test(`${what}, if its connection turns out dead`, async (t) => {
    const { host, connection } = rig();
    let sent = 0;
    serve(host.net, ({ peer, reply }) => {
      const isKept = peer === host.net.peers[0];
      if (isKept ? peer.writes.length <= Math.min(1, requests) : requests > 1) reply(200);
      else peer.reset();
    });
    if (requests > 0) await sendOn(host, connection, GET);
    const ended = await sendOn(host, connection, { ...POST, ...change, sent: () => sent++ });
    if (outcome === "done") t.is(ended.kind, outcome);
    else isLost(t, ended, outcome);
    t.is(host.net.peers.length, connections);
    t.is(sent, requests === 0 ? 1 : connections, "reported each time: an answer belongs to the last");
  });

test("no request is sent again once its answer has begun", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer, reply }) => {
    if (peer.writes.length === 1) return reply(200);
    peer.send("H");
    peer.reset();
  });
  await sendOn(host, connection, GET);
  isLost(t, await sendOn(host, connection, GET), "connection reset");
  t.is(host.net.peers.length, 1);
});

test("a request of which no byte was taken is sent again whatever it is", async (t) => {
  const { host, connection } = answering({ latencyMs: 5 });
  await sendOn(host, connection, GET);
  // The end is on its way, and the socket takes nothing any more.
  host.net.last.end();
  host.net.options.writeBytes = 0;
  const outcome = sendOn(host, connection, { ...POST, repeatable: false });
  host.net.options.writeBytes = 10_000;
  t.is((await outcome).kind, "done");
  t.is(host.net.peers.length, 2);
});

test("a request that must not be sent twice gets a new connection after 5 s of silence", async (t) => {
  const { host, connection } = answering();
  await sendOn(host, connection, GET);
  await host.clock.advance(4000);
  await sendOn(host, connection, { ...GET, repeatable: false });
  t.is(host.net.peers.length, 1);
  await host.clock.advance(6000);
  await sendOn(host, connection, GET);
  t.is(host.net.peers.length, 1);
  await host.clock.advance(6000);
  await sendOn(host, connection, { ...GET, repeatable: false });
  t.is(host.net.peers.length, 2);
});

test("bytes behind an answer close the connection, however they are cut", async (t) => {
  for (const [segmentBytes, readBytes] of [
    [undefined, undefined],
    [1, undefined],
    [undefined, 1],
  ]) {
    const { host, connection } = rig({
      ...(segmentBytes && { segmentBytes }),
      ...(readBytes && { readBytes }),
    });
    serve(host.net, ({ peer }) =>
      peer.send("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200\r\n\r\n"),
    );
    t.is(bodyOf(await sendOn(host, connection, GET)), "{}");
    await host.clock.advance(100);
    t.true(host.net.last.closed);
  }
});

for (const status of [204, 304]) {
  test(`a late body after ${status} is not taken for the next answer`, async (t) => {
    const { host, connection } = rig({ latencyMs: 10 });
    serve(host.net, ({ peer, reply }) => {
      if (peer !== host.net.peers[0]) return reply(500, "refused");
      if (peer.writes.length > 1) return;
      peer.send(`HTTP/1.1 ${status}\r\n\r\n`);
      // The body, which such an answer has not, comes when the next request is on its way.
      host.clock.timer(25, () => peer.send(answer(200)));
    });
    await sendOn(host, connection, GET);
    t.like(await sendOn(host, connection, POST), { kind: "refused", status: 500 });
    t.is(host.net.peers.length, 2);
  });
}

test("bytes that arrived unread before a request are not its answer", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer, reply }) => (peer === host.net.peers[0] ? reply(200) : reply(500, "refused")));
  await sendOn(host, connection, GET);
  // In the host, which did not say so yet.
  host.net.last.arrive(answer(200));
  t.like(await sendOn(host, connection, { ...POST, repeatable: false }), { kind: "refused", status: 500 });
  t.is(host.net.peers.length, 2);
});

test("close ends what is open and what waits, and lets no late event through", async (t) => {
  const { host, connection } = rig();
  const seen = serve(host.net, () => {});
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 3; i++) connection.send(GET, (outcome) => outcomes.push(outcome));
  await host.clock.runUntil(() => seen.length > 0);
  seen[0]?.reply(200);
  connection.close();
  connection.close();
  t.deepEqual(outcomes, Array(3).fill({ kind: "lost", reason: "stopped" }));
  await host.clock.advance(20_000);
  t.is(outcomes.length, 3);
  t.is(host.clock.waiting, 0);
});

/** A peer that sends a byte of its answer each second, and never ends. */
function sendsBytes(peer: Peer, { clock }: FakeHost): void {
  const drip = (): void => {
    peer.send("H");
    if (!peer.closed) clock.timer(1000, drip);
  };
  peer.onData = () => {
    peer.send("HTTP/1.1 200\r\nX: ");
    drip();
  };
}

test("the deadline covers every phase and says which it was", async (t) => {
  const cases: [reason: string, net: NetOptions, onConnect: (peer: Peer, host: FakeHost) => unknown][] = [
    ["no connection in time", {}, () => false],
    ["not sent in time", { writeBytes: 0 }, () => true],
    ["no answer in time", {}, () => true],
    ["answer not complete in time", {}, sendsBytes],
  ];
  for (const [reason, net, onConnect] of cases) {
    const { host, connection } = rig(net);
    host.net.onConnect = (peer) => onConnect(peer, host);
    const start = host.clock.now();
    isLost(t, await sendOn(host, connection, GET), reason);
    t.is(host.clock.now() - start, GET.deadlineMs);
    await host.clock.advance(10);
    t.true(host.net.last.closed, reason);
  }
});

test("the deadline of a hurried request runs from the start: it is not sent if its turn does not come", async (t) => {
  const { host, connection } = rig();
  const seen = serve(host.net, ({ reply }) => void host.clock.timer(9000, () => reply(200)));
  const ended: [number, string][] = [];
  for (const deadlineMs of [10_000, 8000, 12_000]) {
    const request = { ...GET, path: `/${deadlineMs}`, deadlineMs, deadlineIncludesQueue: true };
    connection.send(request, (outcome) => {
      ended.push([host.clock.now(), outcome.kind === "lost" ? outcome.reason : outcome.kind]);
    });
  }
  await host.clock.runUntil(() => ended.length === 3);
  t.deepEqual(ended, [
    [8000, "timed out waiting for the connection"],
    [9003, "done"],
    [12_000, "no answer in time"],
  ]);
  const paths = seen.map(({ path }) => path);
  t.deepEqual(paths, ["/base/10000", "/base/12000"]);
});

// Hosts that keep less than the port's contract: one request may suffer, nothing else.

/**
 * Sends a GET over sockets whose members are replaced by these. `events`: of each socket, reports
 * to the agent.
 */
function careless(members: Partial<Socket>) {
  const host = fakeHost();
  const events: ((what: SocketEvent, reason?: string) => void)[] = [];
  const socket = { write: (bytes: Uint8Array) => bytes.length, read: () => 0, close: () => {}, ...members };
  const open: Host["open"] = (_name, _port, _secure, event) => {
    events.push(event);
    return socket;
  };
  const connection = new Connection({ ...host, open }, TARGET);
  const outcomes: Outcome[] = [];
  connection.send(GET, (outcome) => outcomes.push(outcome));
  return { host, connection, events, outcomes };
}

/** Gives these bytes once. */
function once(bytes: Uint8Array): Socket["read"] {
  let given = false;
  return (into) => {
    if (given) return 0;
    given = true;
    into.set(bytes);
    return bytes.length;
  };
}

test("events of a connection that was given up are ignored", async (t) => {
  const { host, connection, events, outcomes } = careless({ read: once(answer(200, "[1]")) });
  await host.clock.advance(GET.deadlineMs);
  isLost(t, outcomes[0], "no connection in time");
  connection.send({ ...GET, repeatable: false }, (outcome) => outcomes.push(outcome));
  for (const what of ["opened", "writable", "readable", "closed"] as const) events[0]?.(what, "late");
  t.is(outcomes.length, 1);
  events[1]?.("opened");
  events[1]?.("opened");
  events[1]?.("readable");
  t.is(bodyOf(outcomes[1]!), "[1]");
});

test("a socket may miscount what it took: more than there is, less than nothing, a part of it", async (t) => {
  for (const [taken, reason] of [
    [1e9, undefined],
    [0, "not sent in time"],
    [-5, "not sent in time"],
    [Number.NaN, "not sent in time"],
    [10, "no answer in time"],
  ] as const) {
    const read = once(answer(200, "[1]"));
    const { host, events, outcomes } = careless({ write: () => taken, read });
    events[0]?.("opened");
    events[0]?.("writable");
    if (!reason) events[0]?.("readable");
    await host.clock.advance(GET.deadlineMs);
    if (reason) isLost(t, outcomes[0], reason);
    else t.is(bodyOf(outcomes[0]!), "[1]");
  }
});

test("a socket that throws costs the request, and the log names no more than the kind of error", async (t) => {
  const fail = () => {
    throw new TypeError("secret");
  };
  for (const members of [{ write: fail }, { read: fail }, { write: fail, close: fail }]) {
    const { host, events, outcomes } = careless(members);
    events[0]?.("opened");
    events[0]?.("readable");
    await host.clock.advance(1);
    isLost(t, outcomes[0], "internal error");
    t.is(host.lines[0], "error: net: TypeError");
    t.is(host.clock.waiting, 0);
  }
});

const MINUTE = 60_000;
const SENT_ONCE: Request = { ...POST, repeatable: false };

/** A rig whose peers answer after `slowMs`, until `forget` makes all connections go silent. */
function forgetful(slowMs = 0): ReturnType<typeof rig> & { forget(): void } {
  const made = rig();
  const forgotten = new Set<Peer>();
  serve(made.host.net, ({ peer, reply }) =>
    made.host.clock.timer(slowMs, () => forgotten.has(peer) || reply(200)),
  );
  return { ...made, forget: () => made.host.net.peers.forEach((peer) => void forgotten.add(peer)) };
}

test("a request each minute keeps one connection", async (t) => {
  const { host, connection } = forgetful();
  for (let n = 0; n < 60; n++) {
    t.is((await sendOn(host, connection, POST)).kind, "done");
    await host.clock.advance(MINUTE);
  }
  t.is(host.net.peers.length, 1);
});

test("a forgotten connection costs a repeatable request 5 s, and others nothing", async (t) => {
  for (const [request, mostMs] of [
    [POST, 5200],
    [SENT_ONCE, 100],
    [{ ...GET, isPoll: true }, 100],
  ] as const) {
    const { host, connection, forget } = forgetful();
    await sendOn(host, connection, GET);
    await host.clock.advance(MINUTE);
    forget();
    const since = host.clock.now();
    t.is((await sendOn(host, connection, request)).kind, "done");
    t.true(host.clock.now() - since <= mostMs);
    t.is(host.net.peers.length, 2);
  }
});

test("a platform that answers after 6 s gets only one request twice", async (t) => {
  const { host, connection } = forgetful(6000);
  for (let n = 0; n < 10; n++) {
    t.is((await sendOn(host, connection, { ...POST, deadlineMs: 35_000 })).kind, "done");
    await host.clock.advance(MINUTE);
  }
  t.is(host.net.peers.length, 2);
});

test("an idle connection keeps no body of the answer before", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200, "[1234]"));
  const body = async () => new WeakRef(((await sendOn(host, connection, GET)) as { body: Uint8Array }).body);
  const kept = await body();
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  t.is(kept.deref(), undefined);
});
