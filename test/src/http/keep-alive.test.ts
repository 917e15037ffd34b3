import test from "ava";
import type { Outcome } from "../../../src/http/outcome.js";
import type { Request } from "../../../src/http/request.js";
import type { FakeHost } from "../../fakes/host.js";
import { answer, serve } from "../../fakes/server.js";
import { bodyOf, GET, isLost, POST, rig, sendOn } from "./rig.js";

test("a connection that the peer said it would close is not used again", async (t) => {
  const { host, connection } = rig();
  serve(host.net, (request) => request.reply(408, "", { Connection: "close" }));
  t.like(await sendOn(host, connection, GET), { kind: "busy", status: 408 });
  await sendOn(host, connection, GET);
  t.is(host.net.peers.length, 2);
});

test("a connection that was closed while idle is opened again", async (t) => {
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
  t.is(sent, 2, "reported each time: what comes is an answer to the second");
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
