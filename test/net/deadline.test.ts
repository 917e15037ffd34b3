import test from "ava";
import type { Outcome } from "../../src/net/outcome.js";
import type { NetOptions, Peer } from "../fakes/net.js";
import { serve } from "../fakes/server.js";
import { GET, isLost, rig, sendOn } from "./rig.js";

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
