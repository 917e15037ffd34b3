// Each row of the contract's table of what happens to an RPC, and what follows from it.
import test from "ava";

import { parseJson } from "../../../tools/platform/core/json/json-reader.js";
import type { PersistentRpc } from "../../../tools/platform/core/rpc/rpc-records.js";
import { JsonText, NumberTooLongError, typedTwice, valueJson } from "../../../tools/platform/core/values.js";
import { TYPED_NUMBERS } from "../../src/wire/text/typing.js";
import { createRig, type Rig } from "./rig.js";

function persistent(rig: Rig, oneWay: boolean, ms = 60_000): PersistentRpc {
  const request = { method: "m", params: "1", oneWay, expiresAt: rig.clock.now() + ms };
  return rig.core.rpcRecords.send(rig.device, request) as PersistentRpc;
}

/**
 * A poll that ended by its own time: the transport forgot the session, the device's actor did not.
 */
function gone(rig: Rig): void {
  const poll = rig.call("GET", "rpc?timeout=1000");
  rig.clock.advance(1_000);
  if (poll.status !== 408) throw new Error("the poll should have ended");
}

const next = (rig: Rig): string => rig.call("GET", "rpc?timeout=1000").text;

/** `timed out`, `cut` and `hung up`: the poll left a session behind (a zombie). */
const POLLS: Readonly<Record<string, (rig: Rig) => void>> = {
  none: () => {},
  open: (rig) => void rig.call("GET", "rpc?timeout=1000"),
  "timed out": gone,
  cut: (rig) => {
    rig.call("GET", "rpc?timeout=60000");
    rig.clock.advance(30_000);
  },
  "with a negative time": (rig) => void rig.call("GET", "rpc?timeout=-1"),
  "hung up": (rig) => rig.call("GET", "rpc?timeout=20000").hangUp(),
  "hung up 20 s ago": (rig) => {
    rig.call("GET", "rpc?timeout=20000").hangUp();
    rig.clock.advance(20_000);
  },
};

const RPC = '{"id":0,"method":"m","params":1}';

// Poll, RPC, its record or result, and what the next poll gets.
for (const [poll, rpc, outcome, then] of [
  ["none", "one-way", "", RPC],
  ["none", "persistent one-way", "QUEUED", RPC],
  ["open", "one-way", "sent", ""],
  ["open", "two-way", "", RPC],
  ["open", "persistent one-way", "DELIVERED", ""],
  ["with a negative time", "one-way", "sent", ""],
  ["timed out", "one-way", "sent", ""],
  ["timed out", "persistent one-way", "QUEUED", RPC],
  ["cut", "one-way", "sent", ""],
  ["cut", "persistent two-way", "DELIVERED", RPC],
  ["hung up", "persistent one-way", "DELIVERED", ""],
  ["hung up 20 s ago", "persistent one-way", "QUEUED", RPC],
] as const) {
  test(`poll ${poll}, RPC ${rpc}: ${outcome || "pending"}, ${then ? "the next poll gets it" : "no other poll gets it"}`, (t) => {
    const rig = createRig();
    POLLS[poll]?.(rig);
    const oneWay = rpc.endsWith("one-way");
    const sent = rpc.startsWith("persistent")
      ? persistent(rig, oneWay).status
      : rig
          .send("m", { oneWay, params: "1" })
          .results.map(({ kind }) => kind)
          .join();
    t.is(sent, outcome);
    t.is(next(rig), then);
  });
}

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

test("an undelivered RPC expires: no connection if never polled, otherwise a time-out", (t) => {
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

test("open requests of a deleted device get 403, and later ones 401", (t) => {
  const rig = createRig();
  const polls = [rig.call("GET", "rpc?timeout=1000"), rig.call("GET", "attributes/updates?timeout=1000")];
  rig.core.deleteDevice(rig.device);
  t.deepEqual(
    polls.map(({ status, text }) => [status, text]),
    [
      [403, "Device was deleted!"],
      [403, "Device was deleted!"],
    ],
  );
  t.is(rig.call("GET", "rpc?timeout=1000").status, 401);
});

test("a device that hangs up from poll after poll leaves a bounded number of sessions", (t) => {
  const rig = createRig();
  for (let poll = 0; poll < 3_000; poll++) rig.call("GET", "rpc?timeout=599000").hangUp();
  t.true(rig.device.open.size <= 1_000);
  t.true(rig.clock.waiting <= 2_100);
});

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

test(`a value set again is sent though it did not change, other scopes never`, (t) => {
  const { call, core, device, clock } = createRig();
  core.saveAttributes(device, "SHARED_SCOPE", [["k", 1n]]);
  const poll = call("GET", "attributes/updates?timeout=5000");
  call("POST", "attributes", '{"k":2}');
  core.saveAttributes(device, "SERVER_SCOPE", [["k", 3n]]);
  t.is(poll.status, undefined);
  const { ts } = device.attributes.get("SHARED_SCOPE", "k")!;
  clock.advance(5);
  core.saveAttributes(device, "SHARED_SCOPE", [["k", 1n]]);
  t.is(poll.text, '{"k":1}');
  t.is(device.attributes.get("SHARED_SCOPE", "k")?.ts, ts);
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

/** JSON literal -> type and value as the platform stores it. */
const TABLE: [literal: string, type: string, shown: string][] = [
  ...TYPED_NUMBERS.map(([literal, type, text]): [string, string, string] => [
    literal,
    type,
    type === "STRING" ? JSON.stringify(text) : text,
  ]),
  ["-9223372036854775808", "LONG", "-9223372036854775808"],
  ["1e400", "STRING", `"1${"0".repeat(400)}"`],
  ["1.5e300", "STRING", `"15${"0".repeat(299)}"`],
  ["1e-400", "STRING", `"0.${"0".repeat(399)}1"`],
  ['"007"', "LONG", "7"],
  ['"42.0"', "DOUBLE", "42.0"],
  ['".5"', "DOUBLE", "0.5"],
  ['"1e3"', "STRING", '"1e3"'],
  ['"+5"', "STRING", '"+5"'],
  ['" 42"', "STRING", '" 42"'],
  ['"0x1F"', "STRING", '"0x1F"'],
  ['""', "STRING", '""'],
  ['"NaN"', "STRING", '"NaN"'],
  ["true", "BOOLEAN", "true"],
  ['"true"', "STRING", '"true"'],
  ['{"a":[1.50,null],"b":null}', "JSON", '{"a":[1.50,null]}'],
  ["[]", "JSON", "[]"],
];

function typeOf(value: unknown): string {
  if (value instanceof JsonText) return "JSON";
  if (typeof value === "bigint") return "LONG";
  return { number: "DOUBLE", string: "STRING", boolean: "BOOLEAN" }[typeof value as string] ?? "nothing";
}

test("each JSON value of a device is stored with the type and text of a real server", (t) => {
  for (const [literal, type, shown] of TABLE) {
    const value = typedTwice(parseJson(literal));
    t.is(typeOf(value), type, literal);
    t.is(value === undefined ? "" : valueJson(value), shown, literal);
  }
  t.is(typedTwice(null), undefined);
  // It would take as many digits of memory.
  t.throws(() => typedTwice(parseJson("1e99999")), { instanceOf: NumberTooLongError });
});

test("types -0, lone surrogates and bad keys like a real server", (t) => {
  const { call, device } = createRig();
  call("POST", "telemetry", '{"zero":-0.0,"half":"\\ud800"}');
  t.deepEqual(
    ["zero", "half"].map((key) => device.series.latest(key)?.value),
    [0, "?"],
  );
  for (const key of ["<", "a>b", "{x}", "{{x"]) {
    call("POST", "telemetry", JSON.stringify({ [key]: 1, beside: 1 }));
    t.true(device.series.has(key), key);
  }
  for (const key of ["a<b", "<b", "n\0", " ", "x".repeat(256), "{{x}}"]) {
    call("POST", "telemetry", JSON.stringify({ [key]: 1, [`beside ${key}`.slice(0, 20)]: 1 }));
    t.false(device.series.has(key), key);
    t.false(device.series.has(`beside ${key}`.slice(0, 20)), key);
  }
});
