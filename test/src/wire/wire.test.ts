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
import { type Assigned, type Assignment, imageKey, parseAssignment } from "../../../src/wire/firmware.js";
import { checkKey } from "../../../src/wire/keys.js";
import * as paths from "../../../src/wire/paths.js";
import { encodeProvision, parseProvision } from "../../../src/wire/provision.js";
import {
  encodeAnswer,
  encodeCall,
  encodeError,
  parseCallAnswer,
  parseRpcRequest,
  RPC_ERRORS,
  type RpcRequest,
} from "../../../src/wire/rpc.js";
import { Shapes } from "../../../src/wire/shapes.js";
import {
  BEFORE_BYTES,
  encodePoint,
  FRAME_BYTES,
  PointEncoder,
  PointFrame,
  TIMED_BYTES,
} from "../../../src/wire/telemetry.js";
import { encodeJson } from "../../../src/wire/text/encode.js";
import type { JsonObject } from "../../../src/wire/text/json.js";
import { SecretRedactor } from "../../../src/wire/text/redactor.js";
import { decodeStart, fits, utf8Length } from "../../../src/wire/text/text.js";
import { applicationTimestamp, clockTimestamp, isTimestamp } from "../../../src/wire/timestamp.js";
import { encodeValues } from "../../../src/wire/values.js";
import { fakeHost } from "../../fakes/host.js";
import { secretOf } from "../../fakes/secret.js";
import { at } from "../../fakes/time.js";
import { ascii, fixture } from "./support.js";

function read(text: string, whole = true): Omit<RpcRequest, "hash" | "ok"> | string {
  const request = parseRpcRequest(text, whole);
  if (!request.ok) return "no request";
  const { id, method, params, problem } = request;
  return { id, method, params, problem };
}

test("a request is read, id 0 and null parameters included", (t) => {
  t.deepEqual(read(fixture("rpc-request")), {
    id: 0,
    method: "setLed",
    params: { on: true, colour: "grün" },
    problem: undefined,
  });
  t.deepEqual(read(fixture("rpc-request-text-id")), {
    id: 7,
    method: "reboot",
    params: null,
    problem: undefined,
  });
  t.deepEqual(read('{"id":1,"method":""}'), { id: 1, method: "", params: null, problem: undefined });
});

test("an id is a signed integer of 32 bits, as a number or as digits", (t) => {
  for (const [text, id] of [
    ["2147483647", 2147483647],
    ['"-2147483648"', -2147483648],
    ["-0", 0],
    ['"007"', 7],
  ] as const) {
    t.like(read(`{"id":${text},"method":"m","params":1}`), { id });
    t.like(read(`{"id":${text},"method":"m","params":`, false), { id });
  }
  for (const text of ["2147483648", "1.5", '"x"', '""', '"1e3"', '"0x1F"', "null", "true", "[1]", "1e400"]) {
    t.is(typeof read(`{"id":${text},"method":"m","params":1}`), "string", text);
    t.is(typeof read(`{"id":${text},"method":"m","params":`, false), "string", text);
  }
});

test("a request that was cut still yields id and method", (t) => {
  const expected = { id: 7, method: 'set"Led', params: undefined, problem: "too-large" };
  for (const text of [
    '{"id":7,"method":"set\\"Led","params":{"on":tr',
    ' { "method" : "set\\"Led" , "id" : "7" , "para',
    '{"x":{"id":1,"a":["}",{}]},"\\u0069d":7,"y":"\\"","method":"set\\"Led",',
    '{"id":7,"method":"set\\"Led"',
  ]) {
    t.deepEqual(read(text, false) as unknown, expected, text);
  }
});

test("a request that is cut before its method has an empty one", (t) => {
  t.deepEqual(read('{"id":7,"method":"set', false), {
    id: 7,
    method: "",
    params: undefined,
    problem: "too-large",
  });
  t.like(read('{"id":7},"method":"m"', false), { id: 7, method: "" });
  t.like(read('{"id":7,"method":5,"a":', false), { id: 7, method: "" });
  t.like(read(`{"id":7,"method":"${"m".repeat(5000)}","a":`, false), { id: 7, method: "" });
  t.deepEqual(read('{"id":7,', false), { id: 7, method: "", params: undefined, problem: "too-large" });
});

test("a request whose id is not known can't be answered", (t) => {
  for (const text of [
    '{"method":"m","params":',
    '{"id":1',
    '{"id":"1',
    "",
    "[",
    '"id":1,',
    "{}",
    "<html>",
    '{"id"=1,"method":"m",',
    '{"id":0x10,"method":"m",',
    `{"id":"${"0".repeat(5000)}","method":"m",`,
    `{"id":${"0".repeat(5000)},"method":"m",`,
  ]) {
    t.is(typeof read(text, false), "string", text);
  }
});

test("a request that is malformed or too deep after id and method says so", (t) => {
  t.deepEqual(read('{"id":7,"method":"m","params":{x}}'), {
    id: 7,
    method: "m",
    params: undefined,
    problem: "malformed",
  });
  t.like(read(`{"id":7,"method":"m","params":${"[".repeat(40)}${"]".repeat(40)}}`), {
    id: 7,
    problem: "too-large",
  });
  t.deepEqual(read('{"id":7,"method":5,"params":1}'), {
    id: 7,
    method: "",
    params: undefined,
    problem: "malformed",
  });
  t.deepEqual(read('{"id":7,"params":1}'), { id: 7, method: "", params: undefined, problem: "malformed" });
});

test("the hash is the same for the same request and another for another", (t) => {
  const hash = (text: string): number => (parseRpcRequest(text, true) as RpcRequest).hash;
  const one = '{"id":1,"method":"m","params":{"a":1}}';
  t.is(hash(one), hash(`${one}`));
  t.not(hash(one), hash('{"id":1,"method":"m","params":{"a":2}}'));
  t.not(hash(one), hash('{"id":1,"method":"n","params":{"a":1}}'));
  t.true(Number.isInteger(hash(one)) && hash(one) >= 0 && hash(one) < 2 ** 32);
  // A journal outlives an update: those of an agent that hashed no bytes must still be known.
  for (const text of [one, '{"id":1,"method":"m\u00fc","params":null}'])
    t.is((parseRpcRequest(text, true, Buffer.from(text)) as RpcRequest).hash, hash(text));
  t.is(hash(one), 2_117_921_805);
});

test("a result is answered as JSON, undefined as null", (t) => {
  t.deepEqual(encodeAnswer(undefined), { ok: true, text: "null" });
  t.deepEqual(encodeAnswer({ on: true, note: undefined }), { ok: true, text: '{"on":true}' });
  t.deepEqual(encodeAnswer(0), { ok: true, text: "0" });
  t.deepEqual(encodeAnswer(""), { ok: true, text: '""' });
});

test("a result that is no JSON or too large yields a code", (t) => {
  t.like(encodeAnswer({ a: () => 1 }), {
    ok: false,
    code: "HANDLER_FAILED",
    reason: 'the answer: "a" is a function',
  });
  t.like(encodeAnswer(NaN), { ok: false, code: "HANDLER_FAILED", reason: "the answer: it is NaN" });
  t.like(encodeAnswer("x".repeat(100), 50), { ok: false, code: "ANSWER_TOO_LARGE" });
  t.true(encodeAnswer("x".repeat(48), 50).ok);
  t.like(encodeAnswer("ü".repeat(30), 50), { ok: false, code: "ANSWER_TOO_LARGE" });
});

test("a structured error holds its code and a message of bounded length", (t) => {
  t.is(
    encodeError("METHOD_NOT_FOUND"),
    '{"error":{"code":"METHOD_NOT_FOUND","message":"no handler for this method"}}',
  );
  t.is(encodeError("HANDLER_FAILED", 'a "b"'), '{"error":{"code":"HANDLER_FAILED","message":"a \\"b\\""}}');
  t.true(encodeError("TIMEOUT", "x".repeat(5000)).length < 300);
  t.deepEqual(Object.keys(RPC_ERRORS), [
    "METHOD_NOT_FOUND",
    "BAD_PARAMS",
    "PARAMS_TOO_LARGE",
    "HANDLER_FAILED",
    "TIMEOUT",
    "OUTCOME_UNKNOWN",
    "BUSY",
    "ANSWER_TOO_LARGE",
  ]);
});

test("a call always has parameters", (t) => {
  t.deepEqual(encodeCall("getCurrentTime", {}), {
    ok: true,
    text: '{"method":"getCurrentTime","params":{}}',
  });
  t.deepEqual(encodeCall("now", undefined), { ok: true, text: '{"method":"now","params":null}' });
  t.false(encodeCall("", 1).ok);
  t.false(encodeCall(5, 1).ok);
  t.like(encodeCall("m", { a: Symbol("x") }), { ok: false, reason: 'the parameters: "a" is a symbol' });
  t.like(encodeCall("m", "ü".repeat(40_000)), { ok: false, tooLarge: true });
});

test("the answer to a call is a value, or the error that came with status 200", (t) => {
  t.deepEqual(parseCallAnswer(fixture("rpc-call-answer")), {
    kind: "answer",
    value: { time: 1700000000000 },
  });
  t.deepEqual(parseCallAnswer(fixture("rpc-call-timeout")), { kind: "error", error: "timeout" });
  t.deepEqual(parseCallAnswer('{"error":null,"value":1}'), {
    kind: "answer",
    value: { error: null, value: 1 },
  });
  t.deepEqual(parseCallAnswer("5"), { kind: "answer", value: 5 });
  t.deepEqual(parseCallAnswer(""), { kind: "malformed", reason: "malformed" });
});

test("both groups of attributes are read", (t) => {
  t.deepEqual(parseAttributes(fixture("attributes-both")), {
    ok: true,
    client: { serial: "A-113", uptime: 42, ratio: 0.5 },
    shared: { interval: 30, mode: "auto", limits: { low: 1, high: [2, null] }, open: true },
  });
});

test("a group that is absent is empty", (t) => {
  t.deepEqual(parseAttributes(fixture("attributes-none")), { ok: true, client: {}, shared: {} });
  t.deepEqual(parseAttributes('{"client":{"a":1}}'), { ok: true, client: { a: 1 }, shared: {} });
});

test("attributes of another shape are malformed", (t) => {
  for (const text of [
    "",
    "[]",
    "null",
    '"x"',
    '{"client":5}',
    '{"shared":[1]}',
    '{"shared":null}',
    '{"client":{"a"',
  ]) {
    t.false(parseAttributes(text).ok, text);
  }
});

test("a change is distinguished from a deletion", (t) => {
  t.deepEqual(parseNotification(fixture("notification-updated")), {
    kind: "updated",
    values: { k1: 1, k2: "x" },
  });
  t.deepEqual(parseNotification(fixture("notification-deleted")), {
    kind: "deleted",
    keys: ["fw_tag", "fw_url"],
  });
});

test("an attribute that is named deleted is a change unless it is an array of strings", (t) => {
  t.deepEqual(parseNotification(fixture("notification-named-deleted")), {
    kind: "updated",
    values: { deleted: true },
  });
  for (const text of [
    '{"deleted":[1]}',
    '{"deleted":["a",null]}',
    '{"deleted":"a"}',
    '{"deleted":["a"],"b":1}',
  ]) {
    t.is(parseNotification(text).kind, "updated", text);
  }
  t.deepEqual(parseNotification('{"deleted":[]}'), { kind: "deleted", keys: [] });
});

test("a notification of another shape is malformed", (t) => {
  for (const text of ["", "[]", "null", "5", '{"a":1', "[".repeat(40)])
    t.is(parseNotification(text).kind, "malformed", text);
});

test("a query names the keys of either group, escaped", (t) => {
  t.deepEqual(attributesQuery({ clientKeys: ["serial"], sharedKeys: ["a b", "größe&x", "{1}"] }), {
    ok: true,
    query: "?clientKeys=serial&sharedKeys=a%20b,gr%C3%B6%C3%9Fe%26x,%7B1%7D",
  });
  t.deepEqual(attributesQuery({ sharedKeys: ["a"], clientKeys: [] }), { ok: true, query: "?sharedKeys=a" });
});

test("keys that can't be asked for are refused, and so is a query of none", (t) => {
  for (const ask of [
    { sharedKeys: [""] },
    { clientKeys: ["a,b"] },
    { sharedKeys: ["a", ","] },
    {},
    { clientKeys: [], sharedKeys: [] },
  ]) {
    t.false(attributesQuery(ask).ok, JSON.stringify(ask));
  }
});

test("a list of keys is split in order so that each part stays within its room", (t) => {
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 5), [["aa", "bb"], ["cc"]]);
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 7), [["aa", "bb"], ["cc"]]);
  t.deepEqual(splitKeys(["aa", "bb", "cc"], 8), [["aa", "bb", "cc"]]);
  t.deepEqual(splitKeys(["much too long", "b", "ü", "c"], 8), [["much too long"], ["b", "ü"], ["c"]]);
  t.deepEqual(splitKeys([], 8), []);
});

/** What a frame of its own writes for these, one after the other. */
function framesOf(stamps: readonly number[]): string[] {
  const bytes = new Uint8Array(100);
  const frame = new PointFrame(bytes, 10);
  return stamps.map((ts) => {
    bytes.fill(0x2e, 50);
    const end = frame.write(50, at(ts));
    const text = new TextDecoder().decode(bytes.subarray(50, end));
    holdsNothingBeyond(bytes, end);
    return text;
  });
}

function holdsNothingBeyond(bytes: Uint8Array, end: number): void {
  if (bytes.subarray(end).some((byte) => byte !== 0x2e)) throw new Error("it wrote beyond its end");
}

test("the frame of a point holds its time stamp, whatever the one before was", (t) => {
  const stamp = fc.integer({ min: 1_000_000_000_000, max: 9_999_999_999_999 });
  const near = fc
    .tuple(stamp, fc.array(fc.integer({ min: -1500, max: 1_500_000 }), { maxLength: 8 }))
    .map(([ts, steps]) => {
      const all = [ts];
      for (const step of steps)
        all.push(Math.min(9_999_999_999_999, Math.max(1_000_000_000_000, all.at(-1)! + step)));
      return all;
    });
  fc.assert(
    fc.property(fc.oneof(fc.array(stamp, { minLength: 1 }), near), (stamps) => {
      t.deepEqual(
        framesOf(stamps),
        stamps.map((ts) => `,{"ts":${ts},"values":`),
      );
    }),
  );
});

test("a time stamp adds the bytes that are said", (t) => {
  t.is('{"ts":1700000000000,"values":'.length + "}".length, TIMED_BYTES);
  t.is(BEFORE_BYTES, ',{"ts":1700000000000,"values":'.length);
  t.is(FRAME_BYTES, '[{"ts":1700000000000,"values":}]'.length);
});

test("a point with both ts and values among its keys is refused, with one of them it is fine", (t) => {
  t.false(encodePoint({ ts: 1, values: { a: 1 } }).ok);
  t.true(encodePoint({ ts: 1 }).ok);
  t.true(encodePoint({ values: 1 }).ok);
  t.true(encodePoint({ nested: { ts: 1, values: 2 } }).ok);
});

const STORED: JsonObject = {
  fw_title: "greenhouse",
  fw_version: "2.0.0",
  fw_size: 123456,
  fw_checksum_algorithm: "MD5",
  fw_checksum: "5D41402ABC4B2A76B9719D911017C592",
};

const readAssigned = (name: string): Assigned => {
  const attributes = parseAttributes(fixture(name));
  return parseAssignment(attributes.ok ? attributes.shared : {});
};

test("a stored package is read with all it needs", (t) => {
  t.deepEqual(readAssigned("attributes-firmware"), {
    kind: "assigned",
    assignment: {
      title: "greenhouse",
      version: "2",
      tag: "greenhouse 2",
      url: undefined,
      size: 123456,
      algorithm: "CRC32",
      checksum: "86a61036",
      signature: undefined,
    },
  });
  t.like(parseAssignment(STORED), {
    assignment: { checksum: "5d41402abc4b2a76b9719d911017c592", tag: undefined },
  });
});

test("a package on an external host may lack size and checksum", (t) => {
  t.like(readAssigned("attributes-firmware-url"), {
    kind: "assigned",
    assignment: { url: "https://files.example.com/2.0.0.bin", size: undefined, checksum: undefined },
  });
});

test("no key at all is absent, some keys are torn", (t) => {
  t.deepEqual(readAssigned("attributes-none"), { kind: "absent" });
  t.deepEqual(readAssigned("attributes-both"), { kind: "absent" });
  for (const key of Object.keys(STORED)) {
    const { [key]: _, ...rest } = STORED;
    t.deepEqual(parseAssignment(rest) as unknown, { kind: "torn", missing: key });
  }
  t.is(parseAssignment({ fw_tag: "x" }).kind, "torn");
});

test("a key of the wrong type or size is malformed", (t) => {
  const wrong: readonly JsonObject[] = [
    { fw_title: 5 },
    { fw_title: "" },
    { fw_version: 2 },
    { fw_version: "v".repeat(256) },
    { fw_tag: null },
    { fw_url: ["x"] },
    { fw_size: "123" },
    { fw_size: 0 },
    { fw_size: -1 },
    { fw_size: 1.5 },
    { fw_size: 2 ** 31 },
    { fw_checksum_algorithm: "SHA1" },
    { fw_checksum_algorithm: "constructor" },
    { fw_checksum: "xyz" },
    { fw_checksum: "86a61036" },
    { fw_checksum: { a: 1 } },
  ];
  for (const change of wrong)
    t.is(parseAssignment({ ...STORED, ...change }).kind, "malformed", JSON.stringify(change));
});

test("an image is the same whatever its tag, and another with any other size or version", (t) => {
  const of = (change: JsonObject): Assignment => {
    const assigned = parseAssignment({ ...STORED, ...change });
    if (assigned.kind !== "assigned") throw new Error(assigned.kind);
    return assigned.assignment;
  };
  t.is(imageKey(of({})), imageKey(of({ fw_tag: "x" })));
  t.not(imageKey(of({})), imageKey(of({ fw_size: 5 })));
  t.not(imageKey(of({})), imageKey(of({ fw_version: "2.0.1" })));
});

test("a request names the device, key and secret, and the token it proposes", (t) => {
  t.is(
    encodeProvision({ key: secretOf("k"), secret: secretOf('s"'), deviceName: "greenhouse-7" }),
    '{"deviceName":"greenhouse-7","provisionDeviceKey":"k","provisionDeviceSecret":"s\\""}',
  );
  t.is(
    encodeProvision({ key: secretOf("k"), secret: secretOf("s"), deviceName: "d", token: secretOf("abc") }),
    '{"deviceName":"d","provisionDeviceKey":"k","provisionDeviceSecret":"s","credentialsType":"ACCESS_TOKEN","token":"abc"}',
  );
});

test("the three outcomes are distinguished by their status", (t) => {
  t.deepEqual(parseProvision(fixture("provision-success")), {
    kind: "success",
    token: "Tok3nTok3nTok3nTok3n",
  });
  t.deepEqual(parseProvision(fixture("provision-not-found")), { kind: "not-found" });
  t.deepEqual(parseProvision(fixture("provision-failure")), { kind: "failure" });
});

test("a success without a usable access token is malformed, and its reason shows nothing of it", (t) => {
  const success = (value: string): string =>
    `{"status":"SUCCESS","credentialsType":"ACCESS_TOKEN","credentialsValue":${value}}`;
  for (const text of [
    fixture("provision-mqtt"),
    success("5"),
    success('""'),
    '{"status":"SUCCESS","credentialsType":"X509_CERTIFICATE","credentialsValue":"abc"}',
    success('"hush/hush"'),
    '{"status":"SUCCESS"}',
  ]) {
    const answer = parseProvision(text);
    t.is(answer.kind, "malformed", text);
    t.notRegex((answer as { reason: string }).reason, /hush/);
  }
  for (const text of ["", "[]", "null", '{"status":"success"}', '{"status":5}', "{}"])
    t.is(parseProvision(text).kind, "malformed");
});

test("a claim names only what is given", (t) => {
  t.deepEqual(encodeClaim({}), { ok: true, text: "{}" });
  t.deepEqual(encodeClaim({ secretKey: "", durationMs: 60_000 }), {
    ok: true,
    text: '{"secretKey":"","durationMs":60000}',
  });
});

test("a claim with a wrong secret or duration is refused without showing it", (t) => {
  for (const claim of [
    { durationMs: 0 },
    { durationMs: 1.5 },
    { durationMs: NaN },
    { durationMs: "1" },
    { secretKey: 5 },
    { secretKey: "hush\ud800" },
  ]) {
    const encoded = encodeClaim(claim as never);
    t.false(encoded.ok);
    t.notRegex((encoded as { reason: string }).reason, /hush/);
  }
});

test("every request has its documented target", (t) => {
  const target = (path: string) => paths.devicePrefix(secretOf("tok")).reveal() + path;
  t.is(paths.API_PREFIX + paths.PROVISION_PATH, "/api/v1/provision");
  t.is(target(paths.TELEMETRY_PATH), "/api/v1/tok/telemetry");
  t.is(target(paths.attributesPath()), "/api/v1/tok/attributes");
  t.is(target(paths.attributesPath("?sharedKeys=a")), "/api/v1/tok/attributes?sharedKeys=a");
  t.is(target(paths.updatesPath(25_000)), "/api/v1/tok/attributes/updates?timeout=25000");
  t.is(target(paths.rpcPollPath(25_000)), "/api/v1/tok/rpc?timeout=25000");
  t.is(target(paths.rpcAnswerPath(0)), "/api/v1/tok/rpc/0");
  t.is(target(paths.rpcAnswerPath(-5)), "/api/v1/tok/rpc/-5");
  t.is(target(paths.RPC_CALL_PATH), "/api/v1/tok/rpc");
  t.is(target(paths.CLAIM_PATH), "/api/v1/tok/claim");
  t.is(
    target(paths.firmwarePath("green house", "1.0+b")),
    "/api/v1/tok/firmware?title=green%20house&version=1.0%2Bb",
  );
  t.is(
    target(paths.firmwarePath("t", "v", { size: 16_384, chunk: 0 })),
    "/api/v1/tok/firmware?title=t&version=v&size=16384&chunk=0",
  );
  t.is(paths.devicePrefix(secretOf("with space")).reveal(), "/api/v1/with%20space/");
});

test("any text becomes a part of an address that is plain ASCII and reads back as the same", (t) => {
  t.is(paths.escapeText("a b/ü😀&=?#"), "a%20b%2F%C3%BC%F0%9F%98%80%26%3D%3F%23");
  t.is(paths.escapeText("a\ud800"), "a%EF%BF%BD");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const escaped = paths.escapeText(text);
      return /^[\w.!~*'()%-]*$/.test(escaped) && decodeURIComponent(escaped) === text;
    }),
  );
});

test("a token that the platform would refuse in an address is refused without being shown", (t) => {
  for (const token of ["A1_TEST_TOKEN", "a.b-c~d", "with space", "ünï", "a".repeat(255)])
    t.is(paths.checkToken(token), undefined);
  const refused = [
    "",
    "a/b",
    "a\\b",
    "a;b",
    "a%b",
    "a\n",
    "\u0000",
    " a",
    "a ",
    ".",
    "..",
    "hush;",
    "a".repeat(256),
    5,
    null,
    undefined,
  ];
  for (const token of refused) {
    const reason = paths.checkToken(token);
    t.is(typeof reason, "string", String(token));
    t.notRegex(reason ?? "", /hush/);
  }
});

test("the bytes of a text are counted as UTF-8", (t) => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => utf8Length(text) === ascii(text).length));
  t.true(fits("ü".repeat(25), 50));
  t.false(fits("ü".repeat(26), 50));
  t.false(fits("温".repeat(17), 50));
});

test("the beginning of a body is read whatever it holds", (t) => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 100 }), (text) => decodeStart(ascii(text)) === text),
  );
  t.is(
    decodeStart(Uint8Array.of(0x61, 0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf0, 0x9f)),
    "a\ufffd\ufffd(\ufffd\ufffd\ufffd\ufffd\ufffd",
  );
  t.is(decodeStart(Uint8Array.of(0xc0, 0x80)), "\ufffd\ufffd");
  t.is(decodeStart(Uint8Array.of(0xe0, 0x80, 0x80)), "\ufffd\ufffd\ufffd");
  t.is(decodeStart(Uint8Array.of(0xf4, 0x90, 0x80, 0x80)), "\ufffd\ufffd\ufffd\ufffd");
  t.is(decodeStart(ascii("abcdef"), 3), "abc");
});

const reasonOf = (values: unknown, limit?: number): string => {
  const encoded = encodeValues(values, limit);
  return encoded.ok ? `accepted as ${encoded.text}` : encoded.reason;
};

test("values of every kind are written in the order they were given", (t) => {
  const values = {
    temperature: 21.5,
    count: 42,
    long: 9223372036854775807n,
    open: true,
    mode: "auto",
    empty: "",
    limits: { low: 0.1 + 0.2, high: [1, null, { deep: false }], none: {} },
    "größe.b-2": -1,
    "with space": "line\nbreak \u0000 \u007f \u2028",
  };
  t.deepEqual(encodeValues(values), {
    ok: true,
    text:
      '{"temperature":21.5,"count":42,"long":9223372036854775807,"open":true,"mode":"auto","empty":"",' +
      '"limits":{"low":0.3,"high":[1,null,{"deep":false}],"none":{}},"größe.b-2":-1,' +
      '"with space":"line\\nbreak \\u0000 \u007f \u2028"}',
  });
});

test("strings that look like numbers leave as they are", (t) => {
  t.deepEqual(encodeValues({ version: "1.10", id: "007" }), {
    ok: true,
    text: '{"version":"1.10","id":"007"}',
  });
});

test("a value that can't be stored is refused with a sentence that names it", (t) => {
  const loop: Record<string, unknown> = {};
  loop.inner = [loop];
  class Odd {
    get value(): number {
      throw new Error("no");
    }
  }
  const getter = Object.defineProperty({}, "x", { enumerable: true, get: () => new Odd().value });
  const cases: readonly (readonly [unknown, string])[] = [
    [{ a: undefined }, '"a" is undefined'],
    [{ a: NaN }, '"a" is NaN'],
    [{ a: { b: [0, -Infinity] } }, '"a"."b"[1] is -Infinity'],
    [{ a: 2 ** 63 }, '"a" is 9223372036854776000, beyond 64 bits'],
    [{ a: 2n ** 63n }, '"a" is beyond 64 bits'],
    [{ a: null }, '"a" is null, which the platform drops'],
    [{ a: { b: null } }, '"a"."b" is null, which the platform drops'],
    [{ a: () => 1 }, '"a" is a function'],
    [{ a: Symbol("s") }, '"a" is a symbol'],
    [{ a: { toJSON: () => 1 } }, '"a"."toJSON" is a function'],
    [{ a: new Date(0) }, `"a" is of type Date, which JSON can't hold`],
    [{ a: new Map() }, `"a" is of type Map, which JSON can't hold`],
    [{ a: Uint8Array.of(1) }, `"a" is of type Uint8Array, which JSON can't hold`],
    [{ a: Promise.resolve(1) }, `"a" is of type Promise, which JSON can't hold`],
    [{ a: [undefined] }, '"a"[0] is undefined'],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    [{ a: [1, , 2] }, '"a"[1] is undefined'],
    [{ a: loop }, '"a"."inner"[0] refers to itself'],
    [{ "a,b": 1 }, '"a,b" is a key with a comma'],
    [{ ok: 1, "": 1 }, '"" is a blank key'],
    [{ a: "x".repeat(70_000) }, '"a" is too large'],
    [getter, "it contains a value that cannot be read"],
    [{}, "no values given"],
    [[1], "values must be an object of keys and values"],
    [null, "values must be an object of keys and values"],
    ["text", "values must be an object of keys and values"],
    [new Date(0), "it is of type Date, which JSON can't hold"],
  ];
  for (const [values, reason] of cases) t.is(reasonOf(values), reason);
});

test("a key has 1 to 255 characters and neither comma, markup, control characters nor halves of surrogate pairs", (t) => {
  for (const key of [
    "a",
    "fw_title",
    "a b",
    " a",
    "größe",
    "温度",
    "{a}",
    "a".repeat(255),
    "😀".repeat(127),
    "__proto__",
    "a\\ud",
  ]) {
    t.is(checkKey(key), undefined, key);
  }
  const refused = [
    "",
    " ",
    "\t\n",
    ",",
    "a,b",
    "a<b",
    "a>b",
    "<b>",
    "{{a}}",
    "a\u0000",
    "a\u007f",
    "\ud800",
    "a\udc00b",
  ];
  for (const key of [...refused, "a".repeat(256), "😀".repeat(128)]) {
    t.is(typeof checkKey(key), "string", JSON.stringify(key));
    t.true((checkKey(key) ?? "").length < 100);
  }
});

test("values nest 32 levels deep and no deeper", (t) => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  t.true(encodeValues(nested(32)).ok);
  t.regex(reasonOf(nested(33)), /is nested deeper than 32 levels$/);
});

test("an object that stands in many places at once is refused before it fills the memory", (t) => {
  let tree: unknown = { leaf: 1 };
  for (let i = 0; i < 25; i++) tree = { left: tree, right: tree };
  const encoded = encodeValues({ tree }, 10_000);
  t.true(!encoded.ok && encoded.tooLarge);
});

test("what is accepted is no longer than its limit, and what is half as long is accepted", (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "max", maxDepth: 5 }), fc.nat(200), (value, limit) => {
      const encoded = encodeJson(value, "free", limit);
      const length = JSON.stringify(value).length;
      return encoded.ok ? length <= limit : encoded.tooLarge && length * 2 > limit;
    }),
    { numRuns: 1000 },
  );
  let tree: unknown = [];
  for (let i = 0; i < 25; i++) tree = [tree, tree];
  t.false(encodeValues({ tree }, 10_000).ok);
});

test("halves of surrogate pairs leave as U+FFFD and whole pairs as they are", (t) => {
  t.deepEqual(encodeValues({ a: "x\ud800y\udc00z😀\ud83d" }), {
    ok: true,
    text: '{"a":"x\ufffdy\ufffdz😀\ufffd"}',
  });
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.integer({ min: 0xd7f0, max: 0xe010 }),
      (text, unit) => {
        const encoded = encodeValues({ a: text + String.fromCharCode(unit) + text });
        return encoded.ok && Buffer.from(encoded.text).toString() === encoded.text;
      },
    ),
  );
});

test("a member named __proto__ is written like any other", (t) => {
  t.deepEqual(encodeValues(JSON.parse('{"__proto__":{"a":1}}')), { ok: true, text: '{"__proto__":{"a":1}}' });
  t.deepEqual(encodeValues(Object.assign(Object.create(null), { a: 1 })), { ok: true, text: '{"a":1}' });
});

test("free values are written as JSON.stringify writes them", (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const encoded = encodeJson(value, "free", 1_000_000);
      return encoded.ok && encoded.text === JSON.stringify(value);
    }),
  );
  const holes = { a: undefined, b: [undefined], c: 1e300, d: 0.1 + 0.2, e: null };
  t.deepEqual(encodeJson(holes, "free", 1000), { ok: true, text: JSON.stringify(holes) });
  t.false(encodeJson(NaN, "free", 1000).ok);
});

const LIMIT = 1000;

function learnt(values: object): Shapes {
  const shapes = new Shapes();
  shapes.learn(values);
  return shapes;
}

test("points with the keys of one before are written the quick way, whatever scalar they hold", (t) => {
  const shapes = learnt({ a: 1, b: 2 });
  t.is(shapes.write({ a: -1.5, b: true }, LIMIT), '{"a":-1.5,"b":true}');
  t.is(shapes.write({ a: 0.1 + 0.2, b: 'x"\ud800' }, LIMIT), '{"a":0.3,"b":"x\\"\ufffd"}');
  t.is(shapes.write({ a: 2n ** 60n, b: -0 }, LIMIT), '{"a":1152921504606846976,"b":0}');
  for (const values of [{ b: 1, a: 2 }, { a: 1 }, { a: 1, b: 2, c: 3 }, { a: 1, B: 2 }])
    t.is(shapes.write(values, LIMIT), undefined);
  for (const value of [null, undefined, Number.NaN, 2 ** 63, [], {}, () => 1, 2n ** 64n])
    t.is(shapes.write({ a: 1, b: value }, LIMIT), undefined);
});

test("a value is read once: what was looked at is what leaves", (t) => {
  let reads = 0;
  const values = {
    get a() {
      return ++reads === 1 ? 1 : Number.NaN;
    },
  };
  t.is(learnt({ a: 1 }).write(values, LIMIT), '{"a":1}');
  t.is(reads, 1);
});

test("three shapes are kept, the last used of them, and only those with 16 plain keys at most", (t) => {
  const shapes = new Shapes();
  for (const key of ["a", "b", "c"]) shapes.learn({ [key]: 1 });
  t.is(shapes.write({ a: 1 }, LIMIT), '{"a":1}');
  shapes.learn({ e: 1 });
  shapes.learn({ e: 1 });
  const kept = ["a", "b", "c", "e"].filter((key) => shapes.write({ [key]: 1 }, LIMIT) !== undefined);
  t.is(kept.length, 3);
  t.true(kept.includes("a") && kept.includes("e"));
  t.is(learnt({ "a b": 1 }).write({ "a b": 1 }, LIMIT), undefined);
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, i]));
  t.is(learnt(many).write(many, LIMIT), undefined);
});

test("a text that is too long is not copied, and what throws is left to the careful way", (t) => {
  const shapes = learnt({ a: 1 });
  t.is(shapes.write({ a: "x".repeat(20) }, 20), undefined);
  t.is(shapes.write({ a: 123456 }, 12), undefined);
  const throws = {
    get a(): never {
      throw new Error("no");
    },
  };
  t.is(shapes.write(throws, LIMIT), undefined);
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
      const encoder = new PointEncoder(new SecretRedactor(fakeHost()));
      const shapes = new Shapes();
      for (const values of points) {
        const careful = encodePoint(values, limit);
        t.deepEqual(encoder.encode(values, limit), careful);
        const text = shapes.write(values, limit);
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

test("accepts an application's time of 13 digits without a fraction, and nothing else", (t) => {
  for (const ts of [1_000_000_000_000, 1_700_000_000_000, 9_999_999_999_999]) {
    t.is<unknown, unknown>(applicationTimestamp(ts), ts);
    t.true(isTimestamp(ts));
  }
  const seconds = 1_700_000_000;
  for (const ts of [seconds, seconds * 1000 + 0.5, 1e13, 0, -1, NaN, "1700000000000", undefined, null, 1n])
    t.is<unknown, unknown>(
      applicationTimestamp(ts),
      "ts must be a whole number of milliseconds since 1970, with 13 digits",
      String(ts),
    );
});

test("accepts a clock's time from 2001 to 2099, in whole milliseconds", (t) => {
  t.is<unknown, unknown>(clockTimestamp(1_700_000_000_000.7), 1_700_000_000_000);
  t.is<unknown, unknown>(clockTimestamp(Date.UTC(2100, 0, 1) - 1), Date.UTC(2100, 0, 1) - 1);
  for (const ms of [undefined, 0, 999_999_999_999, Date.UTC(2100, 0, 1), Date.UTC(9999, 0, 1), NaN, Infinity])
    t.is(clockTimestamp(ms), undefined);
});

test("a damaged request is never read with an id that stands elsewhere in it", (t) => {
  for (const text of [
    '{"params":{"id":5,"method":"x"',
    '{"a":"\\"id\\":5',
    '[{"id":5,"method":"x"}',
    '{"id":{"id":5},"method":"x"',
  ]) {
    t.false(parseRpcRequest(text, false).ok, text);
  }
});

test("a secret is *** wherever it is printed, and equal to the same text alone", (t) => {
  const secret = secretOf("TOKEN-of-a-device");
  t.is(`${secret}`, "***");
  t.is(String(secret), "***");
  t.is(JSON.stringify([secret, { token: secret }]), '["***",{"token":"***"}]');
  t.false(inspect(secret, { depth: 9, showHidden: true }).includes("TOKEN"));
  t.false(JSON.stringify({ ...secret }).includes("TOKEN"));
  t.is(secret.reveal(), "TOKEN-of-a-device");
  t.true(secret.equals(secretOf("TOKEN-of-a-device")));
  t.false(secret.equals(secretOf("another")) || secret.equals(undefined));
});
