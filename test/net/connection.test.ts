import test, { type ExecutionContext } from "ava";
import { Connection } from "../../src/net/connection.js";
import { exchange } from "../../src/net/exchange.js";
import type { Outcome } from "../../src/net/outcome.js";
import type { Request } from "../../src/net/request.js";
import { parseTarget, type Target } from "../../src/net/target.js";
import { type FakeHost, fakeHost } from "../fakes/host.js";
import type { NetOptions, Peer } from "../fakes/net.js";
import { answer, serve } from "../fakes/server.js";

function targetOf(url: string): Target {
  const parsed = parseTarget(url);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.target;
}

const TARGET = targetOf("http://platform.example:8080/base");
const GET: Request = { method: "GET", path: "/x", deadlineMs: 10_000, limit: 1024, repeatable: true };
const POST: Request = { ...GET, method: "POST", body: new TextEncoder().encode('{"a":1}') };

function rig(net: NetOptions = {}): { host: FakeHost; connection: Connection } {
  const host = fakeHost({ net });
  return { host, connection: new Connection(host, TARGET) };
}

/** Sends, lets time pass until it is over, and gives the outcome. */
async function sendOn(host: FakeHost, connection: Connection, request: Request): Promise<Outcome> {
  const outcomes: Outcome[] = [];
  connection.send(request, (outcome) => outcomes.push(outcome));
  await host.clock.runUntil(() => outcomes.length > 0);
  return outcomes[0]!;
}

function isLost(t: ExecutionContext, outcome: Outcome | undefined, reason: string): void {
  t.deepEqual(outcome, { kind: "lost", reason });
}

const bodyOf = (outcome: Outcome): string =>
  outcome.kind === "done" || outcome.kind === "refused" ? Buffer.from(outcome.body).toString() : "";

test("a request leaves in one write, head and body", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  const outcome = await sendOn(host, connection, POST);
  t.is(outcome.kind, "done");
  t.is(host.net.last.writes.length, 1);
  t.is(
    host.net.last.received,
    "POST /base/x HTTP/1.1\r\nHost: platform.example:8080\r\nUser-Agent: mote\r\nAccept: application/json\r\n" +
      'Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{"a":1}',
  );
});

test("a POST without a body says that its length is 0", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  await sendOn(host, connection, { ...GET, method: "POST" });
  t.regex(host.net.last.received, /Content-Length: 0\r\n\r\n$/);
  t.notRegex(host.net.last.received, /Content-Type/);
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

test("done is never called from within send, whatever is wrong", async (t) => {
  const { host, connection } = rig();
  const outcomes: Outcome[] = [];
  const push = (outcome: Outcome) => outcomes.push(outcome);
  connection.send({ ...GET, path: "/a b" }, push);
  t.is(outcomes.length, 0);
  await host.clock.advance(1);
  isLost(t, outcomes[0], "path not escaped");
  connection.close();
  connection.send(GET, push);
  t.is(outcomes.length, 1);
  await host.clock.advance(1);
  isLost(t, outcomes[1], "stopped");
});

test("a host that throws costs one request and no more", async (t) => {
  const host = fakeHost();
  const broken = {
    ...host,
    open: () => {
      throw new Error("no");
    },
  };
  const outcomes: Outcome[] = [];
  const connection = new Connection(broken, TARGET);
  connection.send(GET, (outcome) => outcomes.push(outcome));
  t.is(outcomes.length, 0);
  await host.clock.advance(1);
  isLost(t, outcomes[0], "the host can't open a connection");
});

test("what done and sent throw goes no further", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  const fail = () => {
    throw new Error("secret");
  };
  connection.send({ ...GET, sent: fail }, fail);
  t.is((await sendOn(host, connection, GET)).kind, "done");
  t.deepEqual(host.lines, ["error: net: sent() failed", "error: net: done() failed"]);
});

test("the 33rd request that waits is refused", async (t) => {
  const { host, connection } = rig();
  host.net.onConnect = () => false;
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 34; i++) connection.send(GET, (outcome) => outcomes.push(outcome));
  await host.clock.advance(1);
  t.deepEqual(outcomes, [{ kind: "lost", reason: "too many requests wait" }]);
});

test("exchange gives the outcome as a promise", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(404));
  const outcome = exchange(connection, GET);
  await host.clock.advance(100);
  t.is((await outcome).kind, "refused");
});

// Answers

test("an answer that comes before the request was fully sent is taken, and the connection is not used again", async (t) => {
  const { host, connection } = rig({ writeBytes: 50, latencyMs: 10 });
  let sent = 0;
  host.net.onConnect = (peer: Peer) => {
    peer.onData = () => {
      if (peer.writes.length === 2) peer.send(answer(413, '"Payload size exceeds the limit of 65536 bytes"'));
    };
  };
  const outcome = await sendOn(host, connection, {
    ...POST,
    body: new Uint8Array(5000).fill(32),
    sent: () => sent++,
  });
  t.is(outcome.kind === "refused" && outcome.status, 413);
  t.is(sent, 0);
  await host.clock.advance(100);
  t.true(host.net.last.closed);
});

test("an early answer counts even if the connection breaks right after it", async (t) => {
  const { host, connection } = rig({ writeBytes: 50, latencyMs: 10, readBytes: 3 });
  host.net.onConnect = (peer: Peer) => {
    peer.onData = () => {
      peer.onData = undefined;
      peer.send(answer(413));
      peer.reset();
    };
  };
  const outcome = await sendOn(host, connection, { ...POST, body: new Uint8Array(5000) });
  t.is(outcome.kind, "refused");
});

test("an answer without length is whole if the peer closed in good order", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer }) => {
    peer.send("HTTP/1.1 200\r\n\r\n[1,2]");
    peer.end();
  });
  t.is(bodyOf(await sendOn(host, connection, GET)), "[1,2]");
});

test("an answer without length is lost if the connection broke", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer }) => {
    peer.send("HTTP/1.1 200\r\n\r\n[1,2]");
    peer.reset("connection reset");
  });
  isLost(t, await sendOn(host, connection, GET), "connection reset");
});

test("an answer cut before its length is lost", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer }) => {
    peer.send("HTTP/1.1 200\r\nContent-Length: 9\r\n\r\n[1,2]");
    peer.end();
  });
  isLost(t, await sendOn(host, connection, GET), "connection closed by the peer");
});

test("an unlawful answer is lost and ends the connection", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer }) => peer.send("SSH-2.0-OpenSSH_9.6\r\n"));
  isLost(t, await sendOn(host, connection, GET), "unlawful answer: not HTTP/1");
  await host.clock.advance(10);
  t.true(host.net.last.closed);
});

test("a body beyond the limit is cut there, and the rest is not read", async (t) => {
  const { host, connection } = rig({ segmentBytes: 100 });
  serve(host.net, ({ peer }) => peer.send(answer(200, `"${"x".repeat(10_000)}"`)));
  const outcome = await sendOn(host, connection, { ...GET, limit: 10 });
  t.like(outcome, { kind: "done", whole: false });
  t.is(bodyOf(outcome), '"xxxxxxxxx');
  await host.clock.advance(10);
  t.true(host.net.last.closed);
});

test("the body of a 200 goes to the sink, and none is kept", async (t) => {
  const { host, connection } = rig({ segmentBytes: 700 });
  serve(host.net, (request) => request.reply(200, "y".repeat(5000)));
  let length: number | undefined;
  let got = "";
  const begin = (bytes: number | undefined) => {
    length = bytes;
    return true;
  };
  const fragment = (bytes: Uint8Array) => {
    got += Buffer.from(bytes).toString();
    return true;
  };
  const outcome = await sendOn(host, connection, { ...GET, limit: 0, sink: { begin, fragment } });
  t.like(outcome, { kind: "done", whole: true });
  t.is(bodyOf(outcome), "");
  t.is(length, 5000);
  t.is(got, "y".repeat(5000));
  t.regex(host.net.last.received, /Accept: \*\/\*/);
});

test("an error with a text is refused though no byte of it is kept, and the sink hears nothing", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(500, "com.google.gson..."));
  const sink = { begin: () => t.fail() as never, fragment: () => t.fail() as never };
  t.is((await sendOn(host, connection, { ...GET, limit: 0, sink })).kind, "refused");
});

test("a sink that gives up, or throws, ends the exchange and the connection", async (t) => {
  const yes = () => true;
  const no = () => false;
  const fail = () => {
    throw new Error("no");
  };
  for (const sink of [
    { begin: no, fragment: yes },
    { begin: yes, fragment: no },
    { begin: fail, fragment: yes },
    { begin: yes, fragment: fail },
  ]) {
    const { host, connection } = rig();
    serve(host.net, (request) => request.reply(200, "abc"));
    isLost(t, await sendOn(host, connection, { ...GET, sink }), "given up");
    await host.clock.advance(10);
    t.true(host.net.last.closed);
  }
});

// Connections

test("a connection that the peer said it would close is not used again", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(408, "", { Connection: "close" }));
  t.like(await sendOn(host, connection, GET), { kind: "busy", status: 408 });
  await sendOn(host, connection, GET);
  t.is(host.net.peers.length, 2);
});

test("a connection that was closed while idle is opened anew", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  await sendOn(host, connection, GET);
  host.net.last.end();
  await host.clock.advance(10);
  t.is((await sendOn(host, connection, { ...GET, repeatable: false })).kind, "done");
  t.is(host.net.peers.length, 2);
});

/** The first connection answers once and closes as the second request arrives. */
async function stale(request: Request): Promise<{ host: FakeHost; outcome: Outcome }> {
  const { host, connection } = rig();
  serve(host.net, ({ peer, reply }) => {
    if (peer === host.net.peers[0] && peer.writes.length > 1) peer.reset();
    else reply(200);
  });
  await sendOn(host, connection, GET);
  return { host, outcome: await sendOn(host, connection, request) };
}

test("a repeatable request is sent once more if a kept connection turns out dead", async (t) => {
  let sent = 0;
  const { host, outcome } = await stale({ ...POST, sent: () => sent++ });
  t.is(outcome.kind, "done");
  t.is(host.net.peers.length, 2);
  t.is(sent, 1);
});

test("a request that must not be sent twice is lost if a kept connection turns out dead", async (t) => {
  const { host, outcome } = await stale({ ...POST, repeatable: false });
  isLost(t, outcome, "connection reset");
  t.is(host.net.peers.length, 1);
});

test("no request is sent a third time", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ peer, reply }) =>
    peer.writes.length > 1 || host.net.peers.length > 1 ? peer.end() : reply(200),
  );
  await sendOn(host, connection, GET);
  isLost(t, await sendOn(host, connection, GET), "connection closed by the peer");
  t.is(host.net.peers.length, 2);
});

test("no request is sent again on a first connection, nor once its answer has begun", async (t) => {
  const first = rig();
  serve(first.host.net, ({ peer }) => peer.reset());
  isLost(t, await sendOn(first.host, first.connection, GET), "connection reset");
  t.is(first.host.net.peers.length, 1);

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
  const { host, connection } = rig({ latencyMs: 5 });
  serve(host.net, (request) => request.reply(200));
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
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
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

test("bytes that nobody asked for close an idle connection", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  await sendOn(host, connection, GET);
  host.net.last.send(answer(200, { forged: true }));
  await host.clock.advance(10);
  t.true(host.net.last.closed);
  t.is(bodyOf(await sendOn(host, connection, GET)), "");
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

test("fresh closes an idle connection, or one in use once its answer is there", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  await sendOn(host, connection, GET);
  connection.fresh();
  await sendOn(host, connection, GET);
  t.is(host.net.peers.length, 2);
  const outcome = sendOn(host, connection, GET);
  connection.fresh();
  t.is((await outcome).kind, "done");
  t.is(host.net.peers.length, 2);
  await sendOn(host, connection, GET);
  t.is(host.net.peers.length, 3);
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

// Deadlines

test("the deadline covers every phase and says which it was", async (t) => {
  const stories: [reason: string, net: NetOptions, onConnect: (peer: Peer) => unknown][] = [
    ["no connection in time", {}, () => false],
    ["not sent in time", { writeBytes: 0 }, () => true],
    ["no answer in time", {}, () => true],
    [
      "answer not complete in time",
      {},
      (peer) => {
        peer.onData = () => peer.send("HTTP/1.1 200\r\n");
      },
    ],
  ];
  for (const [reason, net, onConnect] of stories) {
    const { host, connection } = rig(net);
    host.net.onConnect = onConnect;
    const start = host.clock.now();
    isLost(t, await sendOn(host, connection, GET), reason);
    t.is(host.clock.now() - start, GET.deadlineMs);
    await host.clock.advance(10);
    t.true(host.net.last.closed, reason);
  }
});

test("a peer that sends a byte now and then does not outlive the deadline", async (t) => {
  const { host, connection } = rig();
  host.net.onConnect = (peer) => {
    const drip = () => {
      peer.send("H");
      if (!peer.closed) host.clock.timer(1000, drip);
    };
    peer.onData = () => {
      peer.send("HTTP/1.1 200\r\nX: ");
      drip();
    };
  };
  isLost(t, await sendOn(host, connection, GET), "answer not complete in time");
});

test("the deadline of a request runs from its turn on", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ reply }) => void host.clock.timer(9000, () => reply(200)));
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 3; i++) connection.send(GET, (outcome) => outcomes.push(outcome));
  await host.clock.runUntil(() => outcomes.length === 3);
  t.deepEqual(
    outcomes.map(({ kind }) => kind),
    ["done", "done", "done"],
  );
  t.is(host.clock.waiting, 0);
});

test("a connection that is refused is lost with the host's reason", async (t) => {
  const { host, connection } = rig();
  host.net.onConnect = (peer) => {
    peer.reset("connection refused");
    return false;
  };
  isLost(t, await sendOn(host, connection, GET), "connection refused");
});
