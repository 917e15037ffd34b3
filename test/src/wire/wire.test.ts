import { inspect } from "node:util";
import test from "ava";
import fc from "fast-check";
import {
  attributesQuery,
  parseAttributes,
  parseNotification,
  splitKeys,
} from "../../../src/wire/attributes.js";
import { encodeClaim } from "../../../src/wire/claim.js";
import { imageKey, parseAssignment } from "../../../src/wire/firmware.js";
import { checkKey } from "../../../src/wire/keys.js";
import * as paths from "../../../src/wire/paths.js";
import { encodeProvision, parseProvision } from "../../../src/wire/provision.js";
import {
  encodeAnswer,
  encodeCall,
  encodeError,
  parseCallAnswer,
  parseRpcRequest,
} from "../../../src/wire/rpc.js";
import { Shapes } from "../../../src/wire/shapes.js";
import { encodePoint, PointEncoder, PointFrame } from "../../../src/wire/telemetry.js";
import { encodeJson } from "../../../src/wire/text/encode.js";
import type { JsonObject } from "../../../src/wire/text/json.js";
import { SecretRedactor } from "../../../src/wire/text/redactor.js";
import { fits, utf8Length } from "../../../src/wire/text/text.js";
import { applicationTimestamp, clockTimestamp } from "../../../src/wire/timestamp.js";
import { encodeValues } from "../../../src/wire/values.js";
import { secretOf } from "../../fakes/secret.js";
import { at } from "../../fakes/time.js";
import { ascii, fixture } from "./support.js";

// RPC. What an agent cannot parse it must still answer, or the platform sends it for ever.

const zeros = "0".repeat(5000);

for (const [what, isWhole, rows] of [
  [
    "whole requests",
    true,
    [
      [fixture("rpc-request"), { id: 0, method: "setLed", params: { on: true, colour: "grün" } }],
      [fixture("rpc-request-text-id"), { id: 7, method: "reboot", params: null }],
      ['{"id":2147483647,"method":""}', { id: 2147483647, method: "", params: null, problem: undefined }],
      ['{"id":"-2147483648","method":"m"}', { id: -2147483648 }],
      ['{"id":"007","method":"m"}', { id: 7 }],
      ['{"id":7,"method":"m","params":{x}}', { id: 7, method: "", params: undefined, problem: "malformed" }],
      [`{"id":7,"method":"m","params":${"[".repeat(40)}`, { id: 7, problem: "too-large" }],
      ['{"id":7,"method":5,"params":1}', { id: 7, method: "", params: undefined, problem: "malformed" }],
      ...["2147483648", "1.5", '"x"', '""', '"1e3"', '"0x1F"', "null", "[1]", "1e400"].map(
        (id) => [`{"id":${id},"method":"m"}`, undefined] as const,
      ),
      ["{}", undefined],
    ],
  ],
  [
    "the beginnings of requests",
    false,
    [
      ['{"id":7,"method":"setLed","params":{"on":tr', { id: 7, method: "", problem: "too-large" }],
      ['{"id":"7","method":"m","params":"', { id: 7 }],
      // The platform writes the id first.
      ['{"method":"m","id":7,"params":[', undefined],
      ['{"id":7},"method":"m"', undefined],
      // An id of another member is never taken for the request's.
      ['{"params":{"id":5,"method":"x"', undefined],
      ['{"a":"\\"id\\":5', undefined],
      ['[{"id":5,"method":"x"}', undefined],
      ['{"id":{"id":5},"method":"x"', undefined],
      ['{"id":1', undefined],
      ['{"id"=1,"method":"m",', undefined],
      ['{"id":0x10,"method":"m",', undefined],
      [`{"id":"${zeros}","method":"m",`, undefined],
      ["<html>", undefined],
    ],
  ],
] as const)
  test(`reads id, method and problem of ${what}`, (t) => {
    for (const [text, expected] of rows) {
      const request = parseRpcRequest(text, isWhole ? undefined : "too-large");
      if (expected) t.like(request, expected, text);
      else t.false(request.ok, text);
    }
  });

test("encodes answers, errors and calls, or says why it cannot", (t) => {
  t.deepEqual(encodeAnswer(undefined), { ok: true, text: "null" });
  t.deepEqual(encodeAnswer({ on: true, note: undefined }), { ok: true, text: '{"on":true}' });
  t.like(encodeAnswer(NaN), { ok: false, code: "HANDLER_FAILED", reason: "the answer: it is NaN" });
  t.like(encodeAnswer({ t: NaN, h: [40, NaN] }), {
    ok: true,
    text: '{"h":[40,null]}',
    leftOut: { count: 2 },
  });
  t.false(encodeAnswer({ t: NaN }).ok);
  t.true(encodeAnswer("x".repeat(48), 50).ok);
  for (const text of ["x".repeat(49), "ü".repeat(25)])
    t.like(encodeAnswer(text, 50), { ok: false, code: "ANSWER_TOO_LARGE" });
  t.is(encodeError("HANDLER_FAILED", 'a "b"'), '{"error":{"code":"HANDLER_FAILED","message":"a \\"b\\""}}');
  t.regex(encodeError("METHOD_NOT_FOUND"), /"no handler for this method"/);
  t.true(encodeError("TIMEOUT", "x".repeat(5000)).length < 300);
  t.deepEqual(encodeCall("now", undefined), { ok: true, text: '{"method":"now","params":null}' });
  for (const method of ["", 5]) t.false(encodeCall(method, 1).ok);
  t.like(encodeCall("setLevel", { pump: 1, level: NaN }), { ok: false, tooLarge: false });
  t.like(encodeCall("m", { a: Symbol("x") }), { ok: false, reason: 'the parameters: "a" is a symbol' });
  t.like(encodeCall("m", "ü".repeat(40_000)), { ok: false, tooLarge: true });
});

test("the answer to a call is a value, or the error that came with status 200", (t) => {
  t.like(parseCallAnswer(fixture("rpc-call-answer")), { kind: "answer", value: { time: 1700000000000 } });
  t.deepEqual(parseCallAnswer(fixture("rpc-call-timeout")), { kind: "error", error: "timeout" });
  t.is(parseCallAnswer('{"error":null,"value":1}').kind, "answer");
  t.deepEqual(parseCallAnswer("5"), { kind: "answer", value: 5 });
  t.is(parseCallAnswer("").kind, "malformed");
});

// Attributes.

test("reads both groups of attributes, and nothing of another shape", (t) => {
  t.deepEqual(parseAttributes(fixture("attributes-both")), {
    ok: true,
    client: { serial: "A-113", uptime: 42, ratio: 0.5 },
    shared: { interval: 30, mode: "auto", limits: { low: 1, high: [2, null] }, open: true },
  });
  t.deepEqual(parseAttributes('{"client":{"a":1}}'), { ok: true, client: { a: 1 }, shared: {} });
  for (const text of ["", "[]", "null", '{"client":5}', '{"shared":[1]}', '{"shared":null}'])
    t.false(parseAttributes(text).ok, text);
});

test("only an array of strings as the one member `deleted` is a deletion", (t) => {
  t.like(parseNotification(fixture("notification-updated")), { values: { k1: 1, k2: "x" } });
  t.like(parseNotification(fixture("notification-deleted")), {
    keys: ["fw_tag", "fw_url"],
    values: undefined,
  });
  for (const text of [
    fixture("notification-named-deleted"),
    '{"deleted":["a",null]}',
    '{"deleted":["a"],"b":1}',
  ])
    t.truthy(parseNotification(text)?.values, text);
  for (const text of ["", "[]", "5", "[".repeat(40), "{}", '{"deleted":[]}'])
    t.is(parseNotification(text), undefined, text);
});

test("a query names the keys of either group, escaped, and splits long lists in order", (t) => {
  t.deepEqual(attributesQuery({ clientKeys: ["serial"], sharedKeys: ["a b", "größe&x"] }), {
    ok: true,
    query: "?clientKeys=serial&sharedKeys=a%20b,gr%C3%B6%C3%9Fe%26x",
  });
  for (const ask of [{ sharedKeys: [""] }, { clientKeys: ["a", "b,"] }, { clientKeys: [] }, {}])
    t.false(attributesQuery(ask).ok, JSON.stringify(ask));
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 7), [["aa", "bb"], ["cc"]]);
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 8), [["aa", "bb", "cc"]]);
  t.deepEqual(splitKeys(["much too long", "b", "ü", "c"], 8), [["much too long"], ["b", "ü"], ["c"]]);
});

// Firmware, provisioning, claims and addresses.

const STORED: JsonObject = {
  fw_title: "greenhouse",
  fw_version: "2.0.0",
  fw_size: 123456,
  fw_checksum_algorithm: "MD5",
  fw_checksum: "5D41402ABC4B2A76B9719D911017C592",
};

const assigned = (name: string) => {
  const attributes = parseAttributes(fixture(name));
  return parseAssignment(attributes.ok ? attributes.shared : {});
};

test("an assignment is whole, absent or torn; one on an external host may lack size and checksum", (t) => {
  t.deepEqual(assigned("attributes-firmware"), {
    kind: "assigned",
    assignment: {
      title: "greenhouse",
      version: "2",
      tag: "greenhouse 2",
      url: undefined,
      size: 123456,
      algorithm: "MD5",
      checksum: "5d41402abc4b2a76b9719d911017c592",
      signature: undefined,
    },
  });
  t.like(parseAssignment(STORED), { assignment: { checksum: "5d41402abc4b2a76b9719d911017c592" } });
  t.like(assigned("attributes-firmware-url"), {
    assignment: { url: "https://files.example.com/2.0.0.bin", size: undefined, checksum: undefined },
  });
  t.is(assigned("attributes-both").kind, "absent");
  for (const key of Object.keys(STORED)) {
    const { [key]: _, ...rest } = STORED;
    t.deepEqual(parseAssignment(rest) as unknown, { kind: "torn", missing: key });
  }
  t.is(parseAssignment({ fw_tag: "x" }).kind, "torn");
});

test("a key of an assignment of the wrong type or size is malformed", (t) => {
  for (const change of [
    ...[{ fw_title: 5 }, { fw_title: "" }, { fw_version: 2 }, { fw_version: "v".repeat(256) }],
    ...[{ fw_tag: null }, { fw_url: ["x"] }, { fw_size: "123" }, { fw_size: 0 }, { fw_size: 1.5 }],
    ...[{ fw_size: 2 ** 31 }, { fw_checksum_algorithm: "SHA1" }, { fw_checksum_algorithm: "constructor" }],
    ...[{ fw_checksum: "86a61036" }, { fw_checksum: { a: 1 } }, { fw_signature: "yes" }, { fw_signature: 5 }],
  ] as JsonObject[])
    t.is(parseAssignment({ ...STORED, ...change }).kind, "malformed", JSON.stringify(change));
});

test("an image is the same whatever its tag, and another with any other size or version", (t) => {
  const keyOf = (change: JsonObject): string => {
    const found = parseAssignment({ ...STORED, ...change });
    return found.kind === "assigned" ? imageKey(found.assignment) : found.kind;
  };
  t.is(keyOf({}), keyOf({ fw_tag: "x" }));
  t.not(keyOf({}), keyOf({ fw_size: 5 }));
  t.not(keyOf({}), keyOf({ fw_version: "2.0.1" }));
});

test("provisioning proposes a token, and no answer without a usable one is a success", (t) => {
  t.is(
    encodeProvision({ key: secretOf("k"), secret: secretOf('s"'), deviceName: "d" }),
    '{"deviceName":"d","provisionDeviceKey":"k","provisionDeviceSecret":"s\\""}',
  );
  t.regex(
    encodeProvision({ key: secretOf("k"), secret: secretOf("s"), deviceName: "d", token: secretOf("abc") }),
    /,"credentialsType":"ACCESS_TOKEN","token":"abc"}$/,
  );
  const token = "Tok3nTok3nTok3nTok3n";
  t.deepEqual(parseProvision(fixture("provision-success")), { kind: "success", token });
  t.deepEqual(parseProvision(fixture("provision-not-found")), { kind: "not-found" });
  t.deepEqual(parseProvision(fixture("provision-failure")), { kind: "failure" });
  const success = (value: string, type = "ACCESS_TOKEN"): string =>
    `{"status":"SUCCESS","credentialsType":"${type}","credentialsValue":${value}}`;
  for (const text of [
    ...[fixture("provision-mqtt"), success("5"), success('""'), success('"abc"', "X509_CERTIFICATE")],
    ...[success('"hush/hush"'), '{"status":"SUCCESS"}', '{"status":"success"}', "", "[]", "{}"],
  ]) {
    const answer = parseProvision(text);
    t.is(answer.kind, "malformed", text);
    t.notRegex((answer as { reason: string }).reason, /hush/);
  }
});

test("a claim names only what is given, and a wrong one is refused without being shown", (t) => {
  t.deepEqual(encodeClaim({}), { ok: true, text: "{}" });
  const claim = { secretKey: "", durationMs: 60_000 };
  t.deepEqual(encodeClaim(claim), { ok: true, text: '{"secretKey":"","durationMs":60000}' });
  for (const wrong of [
    { durationMs: 0 },
    { durationMs: 1.5 },
    { durationMs: "1" },
    { secretKey: "hush\ud800" },
  ]) {
    const encoded = encodeClaim(wrong as never);
    t.false(encoded.ok);
    t.notRegex((encoded as { reason: string }).reason, /hush/);
  }
});

test("every request has its documented target", (t) => {
  t.is(paths.API_PREFIX + paths.PROVISION_PATH, "/api/v1/provision");
  for (const [path, target] of [
    [paths.TELEMETRY_PATH, "telemetry"],
    [paths.attributesPath("?sharedKeys=a"), "attributes?sharedKeys=a"],
    [paths.updatesPath(25_000), "attributes/updates?timeout=25000"],
    [paths.rpcPollPath(25_000), "rpc?timeout=25000"],
    [paths.rpcAnswerPath(-5), "rpc/-5"],
    [paths.RPC_CALL_PATH, "rpc"],
    [paths.CLAIM_PATH, "claim"],
    [paths.firmwarePath("a b", "1.0+b"), "firmware?title=a%20b&version=1.0%2Bb"],
    [paths.firmwarePath("t", "v", { size: 9, chunk: 0 }), "firmware?title=t&version=v&size=9&chunk=0"],
  ] as const)
    t.is(paths.devicePrefix(secretOf("a b")).reveal() + path, `/api/v1/a%20b/${target}`);
});

test("any text becomes a part of an address that is plain ASCII and reads back as the same", (t) => {
  t.is(paths.escapeText("a\ud800"), "a%EF%BF%BD");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const escaped = paths.escapeText(text);
      return /^[\w.!~*'()%-]*$/.test(escaped) && decodeURIComponent(escaped) === text;
    }),
  );
});

test("a token that the platform would refuse in an address is refused without being shown", (t) => {
  for (const token of ["A1_TEST_TOKEN", "a.b-c~d", "ünï", "a".repeat(255)])
    t.is(paths.checkToken(token), undefined);
  for (const token of ["", "hush;", "a".repeat(256), 5, null, undefined]) {
    const reason = paths.checkToken(token);
    t.is(typeof reason, "string", String(token));
    t.notRegex(reason ?? "", /hush/);
  }
});

test("a secret is *** wherever it is printed, and equal to the same text alone", (t) => {
  const secret = secretOf("TOKEN-of-a-device");
  t.is(`${secret}`, "***");
  t.is(JSON.stringify([secret, { token: secret }]), '["***",{"token":"***"}]');
  t.false(inspect(secret, { depth: 9, showHidden: true }).includes("TOKEN"));
  t.false(JSON.stringify({ ...secret }).includes("TOKEN"));
  t.is(secret.reveal(), "TOKEN-of-a-device");
  t.true(secret.equals(secretOf("TOKEN-of-a-device")));
  t.false(secret.equals(secretOf("another")) || secret.equals(undefined));
});

// Values, keys and time stamps.

test("the bytes of a text are counted as UTF-8", (t) => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => utf8Length(text) === ascii(text).length));
  t.true(fits("ü".repeat(25), 50));
  t.false(fits("ü".repeat(26), 50));
});

const reasonOf = (values: unknown, limit?: number): string => {
  const encoded = encodeValues(values, limit);
  if (encoded.ok && !encoded.leftOut) return `accepted as ${encoded.text}`;
  return encoded.leftOut?.named[0]?.reason ?? (encoded.ok ? "" : encoded.reason);
};

test("values of every kind are written in the order they were given", (t) => {
  const values = {
    ...{ temperature: 21.5, long: 9223372036854775807n, open: true, version: "1.10", empty: "" },
    ...{ limits: { low: 0.1 + 0.2, high: [1, null, { deep: false }], none: {} }, "größe.b-2": -1 },
    ...{ "with space": "line\nbreak \u0000 \u007f \u2028", ...JSON.parse('{"__proto__":{"a":1}}') },
  };
  t.is(
    reasonOf(values),
    'accepted as {"temperature":21.5,"long":9223372036854775807,"open":true,"version":"1.10","empty":"",' +
      '"limits":{"low":0.3,"high":[1,null,{"deep":false}],"none":{}},"größe.b-2":-1,' +
      '"with space":"line\\nbreak \\u0000 \u007f \u2028","__proto__":{"a":1}}',
  );
});

test("names a value that cannot be stored, with the reason", (t) => {
  const loop: Record<string, unknown> = {};
  loop.inner = [loop];
  const unreadable = {
    get x(): never {
      throw new Error("no");
    },
  };
  let deep: unknown = 1;
  for (let level = 0; level < 33; level++) deep = { a: deep };
  for (const [values, reason] of [
    [{ a: undefined }, '"a" is undefined'],
    [{ a: { b: [0, -Infinity] } }, '"a"."b"[1] is -Infinity'],
    [{ a: 2 ** 63 }, '"a" is 9223372036854776000, beyond 64 bits'],
    [{ a: 2n ** 63n }, '"a" is beyond 64 bits'],
    [{ a: { b: null } }, '"a"."b" is null, which the platform drops'],
    [{ a: () => 1 }, '"a" is a function'],
    [{ a: Symbol("s") }, '"a" is a symbol'],
    [{ a: { toJSON: () => 1 } }, '"a"."toJSON" is a function'],
    [{ a: new Date(0) }, `"a" is of type Date, which JSON can't hold`],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    [{ a: [1, , 2] }, '"a"[1] is undefined'],
    [{ a: loop }, '"a"."inner"[0] refers to itself'],
    [{ "a,b": 1 }, '"a,b" is a key with a comma'],
    [{ a: "x".repeat(70_000) }, '"a" is too large'],
    [unreadable, '"x" contains a value that cannot be read'],
    [{}, "no values given"],
    [[1], "values must be an object of keys and values"],
    [null, "values must be an object of keys and values"],
    [new Date(0), "it is of type Date, which JSON can't hold"],
  ] as const)
    t.is(reasonOf(values), reason);
  t.regex(reasonOf(deep), /is nested deeper than 32 levels$/);
  t.true(encodeValues((deep as { a: JsonObject }).a).ok);
});

test("leaves out a value that cannot be stored, and keeps the others", (t) => {
  const loop: Record<string, unknown> = { good: 1 };
  loop.self = loop;
  const keep = (values: object, text: string, count: number) => {
    const encoded = encodeValues({ first: 1, ...values, last: true }, 300);
    t.is(encoded.ok && encoded.text, `{"first":1,${text}"last":true}`);
    t.is(encoded.leftOut?.count, count);
  };
  for (const bad of [NaN, null, undefined, Infinity, () => 1, Symbol(), new Date(), 2n ** 64n, [NaN]])
    keep({ bad }, "", 1);
  keep({ a: { b: null, c: 2 }, d: { e: NaN } }, '"a":{"c":2},', 2);
  keep({ list: [1, NaN, undefined, null, "x"] }, '"list":[1,null,null,null,"x"],', 2);
  keep({ list: [[NaN], {}] }, '"list":[null,{}],', 1);
  keep({ "a,b": 1, "": 2, loop }, '"loop":{"good":1},', 3);
  keep({ long: "x".repeat(300), small: { deep: ["y".repeat(300)] } }, "", 2);
});

test("a value that shares a bad member in millions of places ends soon", (t) => {
  let tree: unknown = { leaf: NaN, good: undefined };
  for (let i = 0; i < 30; i++) tree = { left: tree, right: tree };
  const encoded = encodeValues({ tree, temperature: 20 }, 4000);
  t.is(encoded.ok && encoded.text, '{"temperature":20}');
});

/** What must be left of `value`; undefined if nothing is. */
const goodOf = (value: unknown): unknown => {
  if (value === null || value === undefined || typeof value === "function" || Object.is(value, NaN))
    return undefined;
  if (typeof value !== "object") return value;
  const isList = Array.isArray(value);
  const kept = Object.entries(value).map(([key, member]) => {
    const good = isList && member === null ? null : goodOf(member);
    return [key, good] as const;
  });
  const good = kept.filter(([, member]) => member !== undefined);
  if (good.length === 0 && kept.length > 0) return undefined;
  return isList ? kept.map(([, member]) => member ?? null) : Object.fromEntries(good);
};

test("what is left of random values with bad members is exactly the good ones", (t) => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.oneof(
        fc.integer(),
        fc.boolean(),
        fc.string({ maxLength: 4 }),
        fc.constantFrom(NaN, null, undefined),
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value"), { maxKeys: 3 }),
    ),
  }));
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("k", "l", "m"), value, { minKeys: 1 }), (values) => {
      const encoded = encodeValues(values, 100_000);
      const good = goodOf(values);
      t.is(encoded.ok ? encoded.text : undefined, JSON.stringify(good));
      t.true(encoded.ok || (encoded.leftOut?.count ?? 0) > 0);
    }),
    { numRuns: 2000 },
  );
});

test("a key has 1 to 255 UTF-16 units, and a reason shortens it", (t) => {
  for (const key of ["größe", "a".repeat(255), "😀".repeat(127), "__proto__", "a\\ud"])
    t.is(checkKey(key), undefined, key);
  for (const key of ["", "\ud800", "a\udc00b", "a".repeat(256), "😀".repeat(128)]) {
    t.is(typeof checkKey(key), "string", JSON.stringify(key));
    t.true((checkKey(key) ?? "").length < 100);
  }
});

test("what is accepted is no longer than its limit, and what is half as long is accepted", (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "max", maxDepth: 5 }), fc.nat(200), (value, limit) => {
      const encoded = encodeJson(value, "free", limit);
      const text = JSON.stringify(value);
      return encoded.ok
        ? encoded.text === text && text.length <= limit
        : encoded.tooLarge && text.length * 2 > limit;
    }),
    { numRuns: 1000 },
  );
  t.false(encodeJson(NaN, "free", 1000).ok);
  // An object that stands in many places at once is refused before it fills the memory.
  let tree: unknown = { leaf: 1 };
  for (let i = 0; i < 25; i++) tree = { left: tree, right: tree };
  t.like(encodeValues({ tree }, 10_000), { ok: false, tooLarge: true });
});

test("halves of surrogate pairs leave as U+FFFD and whole pairs as they are", (t) => {
  const values = { a: "x\ud800y\udc00z😀\ud83d" };
  t.deepEqual(encodeValues(values), { ok: true, text: '{"a":"x\ufffdy\ufffdz😀\ufffd"}' });
});

test("accepts an application's time of 13 digits, and a clock's from 2001 to 2099 in whole ms", (t) => {
  for (const ts of [1_000_000_000_000, 9_999_999_999_999])
    t.is<unknown, unknown>(applicationTimestamp(ts), ts);
  for (const ts of [1_700_000_000, 1_700_000_000_000.5, 1e13, NaN, "1700000000000", undefined, 1n])
    t.regex(String(applicationTimestamp(ts)), /with 13 digits$/);
  const end = Date.UTC(2100, 0, 1);
  t.is<unknown, unknown>(clockTimestamp(1_700_000_000_000.7), 1_700_000_000_000);
  t.is<unknown, unknown>(clockTimestamp(end - 1), end - 1);
  for (const ms of [undefined, 999_999_999_999, end, NaN]) t.is(clockTimestamp(ms), undefined);
});

// Points.

test("a point with both ts and values among its keys is refused, with one of them it is fine", (t) => {
  t.false(encodePoint({ ts: 1, values: { a: 1 } }).ok);
  for (const values of [{ ts: 1 }, { values: 1 }, { nested: { ts: 1, values: 2 } }])
    t.true(encodePoint(values).ok);
});

test("the frame of a point holds its time stamp, whatever the one before was, and no byte more", (t) => {
  const [first, last] = [1_000_000_000_000, 9_999_999_999_999];
  const step = fc.integer({ min: -1500, max: 1_500_000 });
  const stamp = fc.integer({ min: first, max: last });
  fc.assert(
    fc.property(stamp, fc.array(fc.oneof(step, stamp), { maxLength: 8 }), (ts, moves) => {
      const bytes = new Uint8Array(100);
      const frame = new PointFrame(bytes, 10);
      let next = ts;
      for (const move of [0, ...moves]) {
        next = move > first ? move : Math.min(last, Math.max(first, next + move));
        bytes.fill(0x2e, 50);
        const end = frame.put(50, at(next));
        t.is(Buffer.from(bytes.subarray(50)).toString(), `,{"ts":${next},"values":`.padEnd(50, "."));
        t.is(end, 50 + `,{"ts":${next},"values":`.length);
      }
    }),
  );
});

const LIMIT = 1000;

function learnt(values: object): Shapes {
  const shapes = new Shapes();
  shapes.learn(values);
  return shapes;
}

test("a value is read once: what was looked at is what leaves", (t) => {
  let reads = 0;
  const values = {
    get a() {
      return ++reads === 1 ? 1 : Number.NaN;
    },
  };
  t.is(learnt({ a: 1 }).encode(values, LIMIT), '{"a":1}');
  t.is(reads, 1);
});

test("what is written the quick way is what the careful way writes, and nothing else is written", (t) => {
  let quick = 0;
  class Tricky {
    value = 1;
    toJSON(): unknown {
      return { other: 2 };
    }
  }
  const key = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("temperature", "a", "b_1") },
    fc.constantFrom("temperature", "a.b-c_d", "0", "", "a b", "a,b", "ü", "\ud800", "__proto__", "toJSON"),
    fc.string(),
  );
  const value = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.maxSafeInteger(),
    fc.double({ min: -1000, max: 1000 }).map((number) => Math.round(number * 100) / 100),
    fc.constantFrom(-0, 0.1 + 0.2, 1e-7, 1.5e-6, 1e15, 2 ** 53, 1e21, 12345678.1234567, 123456789.12345678),
    fc.boolean(),
    fc.string({ unit: "binary" }),
    fc.constantFrom('"', "\\", "\u007f\u2028", "\ud800", null, undefined, 1n, () => 1, Symbol("s")),
    fc.constantFrom([], [1], {}, { a: 1 }, new Date(0), new Map(), new Uint8Array(2), new Tricky()),
  );
  const whole = fc.oneof(
    { weight: 9, arbitrary: fc.dictionary(key, value, { maxKeys: 3 }) },
    fc.constantFrom<object>(new Tricky(), new Date(0), new Map(), new Uint8Array(2), new Number(1)),
  );
  // Points of few shapes, again and again with other values.
  const series = fc
    .tuple(fc.uniqueArray(key, { minLength: 1, maxLength: 4 }), fc.array(value))
    .map(([keys, values]) => {
      const points: object[] = [];
      for (let at = 0; at + keys.length <= values.length; at += keys.length)
        points.push(Object.fromEntries(keys.map((name, i) => [name, values[at + i]])));
      return points;
    });
  const all = fc.array(fc.oneof(series, fc.array(whole)), { maxLength: 4 }).map((lists) => lists.flat());
  fc.assert(
    fc.property(all, fc.integer({ min: 1, max: 90 }), (points, limit) => {
      const encoder = new PointEncoder(new SecretRedactor());
      const shapes = new Shapes();
      for (const values of points) {
        const careful = encodePoint(values, limit);
        t.deepEqual(encoder.encode(values, limit), careful);
        const text = shapes.encode(values, limit);
        if (text !== undefined) {
          quick++;
          t.deepEqual({ ok: true, text }, careful);
        }
        if (careful.ok) shapes.learn(values);
      }
    }),
    { numRuns: 1000 },
  );
  t.true(quick > 200, `${quick}`);
});
