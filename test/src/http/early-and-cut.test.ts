import test from "ava";
import type { Peer } from "../../fakes/net.js";
import { answer, serve } from "../../fakes/server.js";
import { bodyOf, GET, isLost, POST, rig, sendOn } from "./rig.js";

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

test("a request that was not fully sent is not confirmed by a 200", async (t) => {
  const { host, connection } = rig({ writeBytes: 50, latencyMs: 10 });
  host.net.onConnect = (peer: Peer) => {
    peer.onData = () => {
      if (peer.writes.length === 2) peer.send(answer(200));
    };
  };
  const outcome = await sendOn(host, connection, { ...POST, body: new Uint8Array(5000).fill(32) });
  isLost(t, outcome, "unlawful answer: before the request");
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
