import test from "ava";
import { createRig } from "./rig.js";

test(`a poll ends with an empty 408 when its time is over`, (t) => {
  for (const path of ["rpc", "attributes/updates"]) {
    const { call, clock } = createRig();
    const poll = call("GET", `${path}?timeout=20000`);
    clock.advance(19_999);
    t.is(poll.status, undefined);
    clock.advance(1);
    t.deepEqual([poll.status, poll.text], [408, ""]);
    t.is(clock.waiting, 0);
  }
});

test(`after an answer no timer is left`, (t) => {
  const rig = createRig();
  rig.call("GET", "rpc?timeout=20000");
  rig.send("m", { oneWay: true });
  t.is(rig.clock.waiting, 0);
});

test(`a rule chain answers getCurrentTime with milliseconds and getTime with a date`, (t) => {
  const { call, clock } = createRig({ ruleChain: true });
  const ask = (method: string) => call("POST", "rpc", `{"method":"${method}","params":{}}`);
  t.deepEqual([ask("getCurrentTime").status, ask("getCurrentTime").text], [200, String(clock.now())]);
  t.is(ask("getCurrentTime").headers["Content-Type"], "text/plain;charset=UTF-8");
  t.regex(ask("getTime").text, /^\{"time":"\d{4} \d\d \d\d \d\d:\d\d:\d\d\.\d{3}"\}$/);
});

test("a poll of 30 s or more, or of no stated length, is cut with 503", (t) => {
  for (const query of ["?timeout=30001", "?timeout=0", "?timeout=", ""]) {
    const { call, clock } = createRig();
    const poll = call("GET", `rpc${query}`);
    clock.advance(29_999);
    t.is(poll.status, undefined, query);
    clock.advance(1);
    t.is(poll.status, 503, query);
    t.like(JSON.parse(poll.text), { status: 503, message: null, errorCode: 2 });
  }
});

test("both limits can be set", (t) => {
  const { call, clock } = createRig({ asyncCapMs: 2_000, requestTimeoutMs: 1_000 });
  const short = call("GET", "rpc");
  clock.advance(1_000);
  t.is(short.status, 408);
  const long = call("GET", "rpc?timeout=5000");
  clock.advance(2_000);
  t.is(long.status, 503);
});

test("nobody answers a client-side RPC that the rule chain doesn't know", (t) => {
  const { call, clock } = createRig();
  const asked = call("POST", "rpc", '{"method":"unknown","params":null}');
  clock.advance(29_999);
  t.is(asked.status, undefined);
  clock.advance(1);
  t.is(asked.status, 503);
});
