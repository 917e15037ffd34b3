import test from "ava";
import type { Outcome } from "../../../src/http/outcome.js";
import type { NetOptions, Peer } from "../../fakes/net.js";
import { serve } from "../../fakes/server.js";
import { GET, isLost, rig, sendOn } from "./rig.js";

test("the deadline covers every phase and says which it was", async (t) => {
  const cases: [reason: string, net: NetOptions, onConnect: (peer: Peer) => unknown][] = [
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
  for (const [reason, net, onConnect] of cases) {
    const { host, connection } = rig(net);
    host.net.onConnect = onConnect;
    const start = host.clock.now();
    isLost(t, await sendOn(host, connection, GET), reason);
    t.is(host.clock.now() - start, GET.deadlineMs);
    await host.clock.advance(10);
    t.true(host.net.last.closed, reason);
  }
});

test("a connection that is not open after 30 s is given up, whatever time the request has", async (t) => {
  const { host, connection } = rig();
  host.net.onConnect = () => false;
  const start = host.clock.now();
  isLost(t, await sendOn(host, connection, { ...GET, deadlineMs: 91_000 }), "no connection in time");
  t.is(host.clock.now() - start, 30_000);
  await host.clock.advance(10);
  t.is(host.clock.waiting, 0);
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

test("the deadline of a hurried request runs from the start: it is not sent if its turn does not come", async (t) => {
  const { host, connection } = rig();
  const seen = serve(host.net, ({ reply }) => void host.clock.timer(9000, () => reply(200)));
  const ended: [number, Outcome][] = [];
  for (const deadlineMs of [10_000, 8000, 12_000]) {
    const request = { ...GET, path: `/${deadlineMs}`, deadlineMs, hurried: true };
    connection.send(request, (outcome) => ended.push([host.clock.now(), outcome]));
  }
  await host.clock.runUntil(() => ended.length === 3);
  t.deepEqual(
    ended.map(([at, outcome]) => [at, outcome.kind === "lost" ? outcome.reason : outcome.kind]),
    [
      [8000, "others took all the time"],
      [9003, "done"],
      [12_000, "no answer in time"],
    ],
  );
  t.deepEqual(
    seen.map(({ path }) => path),
    ["/base/10000", "/base/12000"],
  );
});

test("a connection that is refused is lost with the host's reason", async (t) => {
  const { host, connection } = rig();
  host.net.onConnect = (peer) => {
    peer.reset("connection refused");
    return false;
  };
  isLost(t, await sendOn(host, connection, GET), "connection refused");
});
