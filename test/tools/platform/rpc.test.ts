// Each row of the contract's table of what happens to an RPC, and what follows from it.
import test from "ava";
import type { PersistentRpc } from "../../../tools/platform/core/rpc/rpc-records.js";
import { createRig, type Rig } from "./rig.js";

const SENT = [{ kind: "sent" }];

function persistent(rig: Rig, oneWay: boolean, ms = 60_000): PersistentRpc {
  const request = { method: "m", params: "1", oneWay, expiresAt: rig.clock.now() + ms };
  return rig.core.rpcRecords.send(rig.device, request) as PersistentRpc;
}

/** A poll that ended by its own time: the transport forgot the session, the device's actor did not. */
function gone(rig: Rig): void {
  const poll = rig.call("GET", "rpc?timeout=1000");
  rig.clock.advance(1_000);
  if (poll.status !== 408) throw new Error("the poll should have ended");
}

/** A poll that the server cut, with time of its own left. */
function registered(rig: Rig): void {
  const poll = rig.call("GET", "rpc?timeout=60000");
  rig.clock.advance(30_000);
  if (poll.status !== 503) throw new Error("the poll should have been cut");
}

const next = (rig: Rig): string => rig.call("GET", "rpc?timeout=1000").text;

test("open poll, one-way: delivered, and the caller is notified at once", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "rpc?timeout=1000");
  const { results } = rig.send("setLed", { oneWay: true, params: '{"on":true}' });
  t.is(poll.text, '{"id":0,"method":"setLed","params":{"on":true}}');
  t.deepEqual([poll.status, poll.headers["Content-Type"]], [200, "application/json"]);
  t.deepEqual(results, SENT);
  t.is(rig.device.rpc.pending, 0);
});

test("open poll, two-way: delivered, and pending until the answer", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "rpc?timeout=1000");
  const { results } = rig.send("setLed");
  t.is(poll.status, 200);
  t.deepEqual(results, []);
  t.is(rig.call("POST", "rpc/0", '{"on":true}').status, 200);
  t.deepEqual(results, [{ kind: "answer", text: '{"on":true}' }]);
});

test("several open polls all get the same RPC", (t) => {
  const rig = createRig();
  const polls = [rig.call("GET", "rpc?timeout=1000"), rig.call("GET", "rpc?timeout=1000")];
  rig.send("setLed", { oneWay: true });
  t.deepEqual(
    polls.map(({ status }) => status),
    [200, 200],
  );
});

test("open poll, persistent one-way: DELIVERED and done", (t) => {
  const rig = createRig();
  rig.call("GET", "rpc?timeout=1000");
  t.is(persistent(rig, true).status, "DELIVERED");
  t.is(rig.device.rpc.pending, 0);
});

test("open poll, persistent two-way: DELIVERED, then SUCCESSFUL with the answer", (t) => {
  const rig = createRig();
  rig.call("GET", "rpc?timeout=1000");
  const rpc = persistent(rig, false);
  t.is(rpc.status, "DELIVERED");
  rig.call("POST", "rpc/0", "7");
  t.deepEqual([rpc.status, rpc.response], ["SUCCESSFUL", "7"]);
});

test("never polled, one-way: queued, and the caller is notified when the next poll takes it", (t) => {
  const rig = createRig();
  const { results } = rig.send("reboot", { oneWay: true });
  t.deepEqual(results, []);
  t.is(next(rig), '{"id":0,"method":"reboot","params":{}}');
  t.deepEqual(results, SENT);
  t.is(next(rig), "");
});

test("never polled, two-way and persistent: queued for the next poll", (t) => {
  const rig = createRig();
  rig.send("first");
  t.is(next(rig), '{"id":0,"method":"first","params":{}}');
  rig.call("POST", "rpc/0", "1");
  const one = persistent(rig, true);
  t.is(one.status, "QUEUED");
  t.is(next(rig), '{"id":1,"method":"m","params":1}');
  t.is(one.status, "DELIVERED");
});

test("after a delivery there is no zombie: the next one-way RPC is queued", (t) => {
  const rig = createRig();
  rig.call("GET", "rpc?timeout=1000");
  rig.send("a", { oneWay: true });
  rig.send("b", { oneWay: true });
  t.is(next(rig), '{"id":1,"method":"b","params":{}}');
});

test("zombie of a timed-out poll, one-way: lost, and the caller learns that it went out", (t) => {
  const rig = createRig();
  gone(rig);
  const { results } = rig.send("reboot", { oneWay: true });
  t.deepEqual(results, SENT);
  t.is(next(rig), "");
});

test("one lost RPC uses the zombie up: the one after it is queued", (t) => {
  const rig = createRig();
  gone(rig);
  rig.send("lost", { oneWay: true });
  rig.send("kept", { oneWay: true });
  t.is(next(rig), '{"id":1,"method":"kept","params":{}}');
});

test("zombie of a timed-out poll, two-way: the next poll gets it", (t) => {
  const rig = createRig();
  gone(rig);
  rig.send("read");
  t.is(next(rig), '{"id":0,"method":"read","params":{}}');
});

test("zombie of a timed-out poll, persistent: QUEUED, and the next poll gets it", (t) => {
  for (const oneWay of [true, false]) {
    const rig = createRig();
    gone(rig);
    const rpc = persistent(rig, oneWay);
    t.is(rpc.status, "QUEUED");
    t.is(next(rig), '{"id":0,"method":"m","params":1}');
    t.is(rpc.status, "DELIVERED");
  }
});

test("zombie of a poll the server cut, one-way: lost", (t) => {
  const rig = createRig();
  registered(rig);
  t.deepEqual(rig.send("reboot", { oneWay: true }).results, SENT);
  t.is(next(rig), "");
});

test("zombie of a poll the server cut, persistent one-way: lost, and recorded as DELIVERED", (t) => {
  const rig = createRig();
  registered(rig);
  t.is(persistent(rig, true).status, "DELIVERED");
  t.is(next(rig), "");
});

test("zombie of a poll the server cut, persistent two-way: DELIVERED, and the next poll gets it", (t) => {
  const rig = createRig();
  registered(rig);
  const rpc = persistent(rig, false);
  t.is(rpc.status, "DELIVERED");
  t.is(next(rig), '{"id":0,"method":"m","params":1}');
});

test("a device that hung up leaves the same zombie as a poll that was cut", (t) => {
  const rig = createRig();
  rig.call("GET", "rpc?timeout=20000").hangUp();
  t.is(persistent(rig, true).status, "DELIVERED");
  t.is(next(rig), "");
});

test("once its own time is over, a zombie is no longer registered", (t) => {
  const rig = createRig();
  rig.call("GET", "rpc?timeout=20000").hangUp();
  rig.clock.advance(20_000);
  t.is(persistent(rig, true).status, "QUEUED");
});

test("an unanswered two-way RPC comes with every poll, and later ones wait behind it", (t) => {
  const rig = createRig();
  rig.send("first");
  rig.send("second");
  for (let poll = 0; poll < 3; poll++) t.is(next(rig), '{"id":0,"method":"first","params":{}}');
  rig.call("POST", "rpc/0", "1");
  t.is(next(rig), '{"id":1,"method":"second","params":{}}');
});

test("the first answer holds; a second, late or unknown one is a 200 too", (t) => {
  const rig = createRig();
  const { results } = rig.send("read");
  rig.call("POST", "rpc/0", "1");
  t.is(rig.call("POST", "rpc/0", "2").status, 200);
  t.is(rig.call("POST", "rpc/99", "3").status, 200);
  t.deepEqual(results, [{ kind: "answer", text: "1" }]);
});

test("an RPC that nobody took expires: no connection if no poll was known, a time-out otherwise", (t) => {
  const rig = createRig();
  const unheard = rig.send("a");
  rig.clock.advance(10_000);
  t.deepEqual(unheard.results, [{ kind: "no connection" }]);
  gone(rig);
  const heard = rig.send("b");
  rig.clock.advance(10_000);
  t.deepEqual(heard.results, [{ kind: "timeout" }]);
  t.is(next(rig), "");
});

test("an expired persistent RPC is EXPIRED, one that came too late as well", (t) => {
  const rig = createRig();
  const rpc = persistent(rig, false, 1_000);
  rig.clock.advance(1_000);
  t.is(rpc.status, "EXPIRED");
  t.is(persistent(rig, false, 0).status, "EXPIRED");
});

test("a negative timeout ends at once with 408 and swallows a one-way RPC all the same", (t) => {
  const rig = createRig();
  const { results } = rig.send("reboot", { oneWay: true });
  t.is(rig.call("GET", "rpc?timeout=-1").status, 408);
  t.deepEqual(results, SENT);
  t.is(next(rig), "");
});
