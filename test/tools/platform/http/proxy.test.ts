// What a proxy in front of the platform makes of requests that stay open.
import test from "ava";
import { createRig } from "../rig.js";

test(`behind a proxy: what is open for 50 s ends with the proxy's own 504`, (t) => {
  for (const path of ["rpc", "rpc?timeout=50001", "attributes/updates?timeout=600000"]) {
    const rig = createRig({ behindProxy: true });
    const poll = rig.call("GET", path);
    rig.clock.advance(49_999);
    t.is(poll.status, undefined, path);
    rig.clock.advance(1);
    t.is(poll.status, 504, path);
    t.regex(poll.text, /^<html><body><h1>504 Gateway Time-out<\/h1>/);
    t.like(poll.headers, { "Content-Type": "text/html", Connection: "close", Vary: undefined });
    t.is(rig.api.log.list()[0]?.status, 504);
    rig.clock.advance(600_000);
    t.is(rig.clock.waiting, 0);
  }
});

test(`behind a proxy: a shorter poll ends as without one, and no timer is left`, (t) => {
  const rig = createRig({ behindProxy: true });
  const poll = rig.call("GET", "rpc?timeout=40000");
  rig.clock.advance(40_000);
  t.deepEqual([poll.status, rig.clock.waiting], [408, 0]);
  rig.call("GET", "attributes");
  t.is(rig.clock.waiting, 0);
});

test("without a proxy a poll of 50 s is the server's own affair", (t) => {
  const rig = createRig({ asyncCapMs: 300_000 });
  const poll = rig.call("GET", "rpc?timeout=60000");
  rig.clock.advance(60_000);
  t.is(poll.status, 408);
});

test("behind a proxy a limit of the server's own that is shorter still holds", (t) => {
  const rig = createRig({ behindProxy: true, asyncCapMs: 30_000 });
  const poll = rig.call("GET", "rpc");
  rig.clock.advance(30_000);
  t.is(poll.status, 503);
});

test("a poll that the proxy cut leaves a zombie: the next one-way RPC is lost", (t) => {
  const rig = createRig({ behindProxy: true });
  rig.call("GET", "rpc");
  rig.clock.advance(50_000);
  t.deepEqual(rig.send("m", { oneWay: true }).results, [{ kind: "sent" }]);
  t.is(rig.device.rpc.pending, 0);
});
