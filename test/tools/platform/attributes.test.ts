import test from "ava";
import { AttributeStore } from "../../../tools/platform/core/attributes.js";
import { Budget } from "../../../tools/platform/core/common/budget.js";
import { createRig } from "./rig.js";

test(`attributes are read by key and by scope, and empty groups are left out`, (t) => {
  const { call, core, device } = createRig();
  t.is(call("GET", "attributes").text, "{}");
  call("POST", "attributes", '{"serial":"A-113","both":1}');
  core.saveAttributes(device, "SHARED_SCOPE", [
    ["interval", 5n],
    ["both", 2n],
  ]);
  core.saveAttributes(device, "SERVER_SCOPE", [["hidden", true]]);
  const all = '{"client":{"serial":"A-113","both":1},"shared":{"interval":5,"both":2}}';
  for (const query of ["", "?clientKeys=&sharedKeys=", "?sharedKeys=,"]) {
    t.is(call("GET", `attributes${query}`).text, all);
  }
  t.is(call("GET", "attributes?clientKeys=both").text, '{"client":{"both":1}}');
  t.is(call("GET", "attributes?sharedKeys=none&sharedKeys=interval").text, '{"shared":{"interval":5}}');
  t.is(
    call("GET", "attributes?clientKeys=serial&sharedKeys=both,,").text,
    '{"client":{"serial":"A-113"},"shared":{"both":2}}',
  );
  t.is(call("GET", "attributes?clientKeys=none").text, "{}");
  t.is(call("GET", "attributes?clientKeys=hidden&sharedKeys=hidden").text, "{}");
});

test(`one notification ends a poll, and changes while none is open are not sent`, (t) => {
  const { call, core, device, clock } = createRig();
  core.saveAttributes(device, "SHARED_SCOPE", [["before", 1n]]);
  const poll = call("GET", "attributes/updates?timeout=5000");
  t.is(poll.status, undefined);
  core.saveAttributes(device, "SHARED_SCOPE", [
    ["k1", 1n],
    ["k2", "x"],
  ]);
  core.saveAttributes(device, "SHARED_SCOPE", [["k3", 1n]]);
  t.deepEqual([poll.status, poll.text], [200, '{"k1":1,"k2":"x"}']);
  const later = call("GET", "attributes/updates?timeout=5000");
  clock.advance(5_000);
  t.deepEqual([later.status, later.text], [408, ""]);
});

test(`a deletion names the keys asked for, whether they were there or not`, (t) => {
  const { call, core, device } = createRig();
  const poll = call("GET", "attributes/updates?timeout=5000");
  core.deleteAttributes(device, "SHARED_SCOPE", ["a", "b"]);
  t.is(poll.text, '{"deleted":["a","b"]}');
});

test(`a value set again is sent though it did not change, other scopes never`, (t) => {
  const { call, core, device } = createRig();
  core.saveAttributes(device, "SHARED_SCOPE", [["k", 1n]]);
  const poll = call("GET", "attributes/updates?timeout=5000");
  call("POST", "attributes", '{"k":2}');
  core.saveAttributes(device, "SERVER_SCOPE", [["k", 3n]]);
  t.is(poll.status, undefined);
  core.saveAttributes(device, "SHARED_SCOPE", [["k", 1n]]);
  t.is(poll.text, '{"k":1}');
});

test("an empty key in a list gets no answer until the server's limit", (t) => {
  const { call, clock } = createRig();
  const reading = call("GET", "attributes?sharedKeys=a,,b");
  clock.advance(29_999);
  t.is(reading.status, undefined);
  clock.advance(1);
  t.is(reading.status, 503);
});

test("with a lag the data is not there when its 200 goes out, and is later", (t) => {
  const { call, clock, device } = createRig({ lagMs: 50 });
  t.is(call("POST", "attributes", '{"a":1}').status, 200);
  t.is(call("POST", "telemetry", '{"b":1}').status, 200);
  t.is(call("GET", "attributes").text, "{}");
  clock.advance(50);
  t.is(call("GET", "attributes").text, '{"client":{"a":1}}');
  t.deepEqual(device.series.keys(), ["b"]);
});

test("a full memory keeps no further value, and gets everything back at the end", (t) => {
  const budget = new Budget(1_000);
  const store = new AttributeStore(budget);
  for (let n = 0; n < 100; n++) store.set("CLIENT_SCOPE", "same", `${n}`, n);
  t.is(store.get("CLIENT_SCOPE", "same")?.value, "99");
  store.set("CLIENT_SCOPE", "large", "x".repeat(1_000), 0);
  t.is(store.get("CLIENT_SCOPE", "large"), undefined);
  t.true(budget.used > 0);
  store.clear();
  t.is(budget.used, 0);
});

test("an unchanged value keeps its time", (t) => {
  const { call, clock, device } = createRig();
  call("POST", "attributes", '{"a":1,"b":{"x":1}}');
  const ts = clock.now();
  clock.advance(5);
  call("POST", "attributes", '{"a":1,"b":{"x":1}}');
  t.deepEqual(
    device.attributes.list("CLIENT_SCOPE").map(([, entry]) => entry.ts),
    [ts, ts],
  );
});
