import test from "ava";
import { Connection, exchange } from "../../../src/http/connection.js";
import type { Outcome } from "../../../src/http/outcome.js";
import { fakeHost } from "../../fakes/host.js";
import { serve } from "../../fakes/server.js";
import { bodyOf, GET, isLost, POST, rig, sendOn, TARGET } from "./rig.js";

test("a request leaves in one write, head and body", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(200));
  const outcome = await sendOn(host, connection, POST);
  t.is(outcome.kind, "done");
  t.is(host.net.last.writes.length, 1);
  t.is(
    host.net.last.received,
    "POST /base/x HTTP/1.1\r\nHost: platform.example:8080\r\nUser-Agent: mote\r\n" +
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
  isLost(t, outcomes[0], "request not escaped");
  connection.close();
  connection.send(GET, push);
  t.is(outcomes.length, 1);
  await host.clock.advance(1);
  isLost(t, outcomes[1], "stopped");
});

test("further headers leave as they were given; one that could begin another leaves nothing", async (t) => {
  const { host, connection } = rig();
  serve(host.net, ({ headers, reply }) => reply(200, JSON.stringify(headers.jwt ?? null)));
  t.is(bodyOf(await sendOn(host, connection, { ...POST, headers: ["a: 1", "jwt: a.b-c_d="] })), '"a.b-c_d="');
  for (const header of ["jwt: a\r\nEvil: 1", "jwt: a\n", "jwt:a", "jwt: ", ": a", "jwt: \u00e4", ""])
    isLost(t, await sendOn(host, connection, { ...POST, headers: ["a: 1", header] }), "request not escaped");
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
