import test from "ava";
import {
  encodeAnswer,
  encodeCall,
  encodeError,
  parseCallAnswer,
  parseRpcRequest,
  RPC_ERRORS,
  type RpcRequest,
} from "../../../src/wire/rpc.js";
import { fixture } from "./support.js";

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
