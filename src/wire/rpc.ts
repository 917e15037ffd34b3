// Server-side RPC. GET {token}/rpc delivers one request, POST {token}/rpc/{id} takes its answer, any JSON text:
//
//   {"id":0,"method":"setLed","params":{"on":true}}      id: signed 32 bits, from 0 on, also again; a number, or a string of digits
//   {"on":true}
//   {"error":{"code":"METHOD_NOT_FOUND","message":"no handler for this method"}}
//
// Client-side RPC. POST {token}/rpc takes a call and answers with whatever the platform's rule chain says, or with the second on its time-out:
//
//   {"method":"getCurrentTime","params":{}}
//   {"error":"timeout"}

import { isMadeOf } from "./text/characters.js";
import { encodeJson } from "./text/encode.js";
import { isObject, type Json, type JsonProblem, parseJson } from "./text/json.js";
import { findMembers, jsonOf } from "./text/members.js";
import { fits, quote } from "./text/text.js";

/** What a structured error can say, each with the message used when there is no better one. */
export const RPC_ERRORS = {
  METHOD_NOT_FOUND: "no handler for this method",
  BAD_PARAMS: "the parameters can't be read",
  PARAMS_TOO_LARGE: "the request is larger or deeper than this device takes",
  HANDLER_FAILED: "the handler failed",
  TIMEOUT: "the handler took too long",
  OUTCOME_UNKNOWN: "the handler began to run, and what came of it is not known",
  BUSY: "too many answers of this device were not acknowledged",
  ANSWER_TOO_LARGE: "the answer is too large",
} as const;
export type RpcErrorCode = keyof typeof RPC_ERRORS;

/** Bytes of an answer or a call that the platform takes. */
export const RPC_LIMIT = 65_536;
const MAX_MESSAGE = 200;

/** Why `params` is absent: `too-large` also stands for too deep. */
export type RpcProblem = "too-large" | "malformed";

export interface RpcRequest {
  readonly ok: true;
  readonly id: number;
  /** Any text; empty if the request names none (it is then `malformed`). */
  readonly method: string;
  /** Null if the caller gave none; undefined only with a `problem`. */
  readonly params: Json | undefined;
  readonly problem: RpcProblem | undefined;
  /** 32 bits over the text of the request: distinguishes another request of the same id. */
  readonly hash: number;
}

export type RpcParsed = RpcRequest | { readonly ok: false };

/**
 * Reads a request. `whole` is false if the text is only its beginning; then, and when the rest is no JSON, `id` and `method` still come, with a `problem`,
 * because a request without an answer holds up those behind it. Without a usable id it can't be answered: `ok` is false. `bytes`: of which the text was made.
 */
export const parseRpcRequest = (text: string, whole: boolean, bytes?: Uint8Array): RpcParsed => {
  if (!whole) return fromBeginning(text, "too-large", bytes);
  const parsed = parseJson(text);
  if (!parsed.ok) return fromBeginning(text, problemOf(parsed.reason), bytes);
  if (!isObject(parsed.value)) return { ok: false };
  const { method, params } = parsed.value;
  const id = toId(Object.hasOwn(parsed.value, "id") ? parsed.value.id : undefined);
  if (id === undefined) return { ok: false };
  const hash = hashText(text, bytes);
  if (typeof method !== "string")
    return { ok: true, id, method: "", params: undefined, problem: "malformed", hash };
  return { ok: true, id, method, params: params === undefined ? null : params, problem: undefined, hash };
};

const problemOf = (reason: JsonProblem): RpcProblem => (reason === "too-deep" ? "too-large" : "malformed");

const fromBeginning = (text: string, problem: RpcProblem, bytes: Uint8Array | undefined): RpcParsed => {
  const found = findMembers(text);
  const id = toId(jsonOf(found.id));
  if (id === undefined) return { ok: false };
  const method = jsonOf(found.method);
  const name = typeof method === "string" ? method : "";
  return { ok: true, id, method: name, params: undefined, problem, hash: hashText(text, bytes) };
};

/** A signed 32-bit integer, written as a number or as decimal digits. */
const toId = (value: unknown): number | undefined => {
  const id = typeof value === "string" && isDecimal(value) ? Number(value) : value;
  if (typeof id !== "number" || (id | 0) !== id) return undefined;
  return id | 0;
};

const isDecimal = (text: string): boolean => isMadeOf(text.startsWith("-") ? text.slice(1) : text, "09", 10);

/** FNV-1a over the code points: those of ASCII are its bytes, which take a board a third of the time. */
const hashText = (text: string, bytes: Uint8Array | undefined): number => {
  let hash = 0x811c9dc5 | 0;
  const { length } = text;
  if (bytes?.length === length) {
    for (let at = 0; at < length; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    return hash >>> 0;
  }
  for (const char of text) hash = Math.imul(hash ^ (char.codePointAt(0) as number), 0x01000193);
  return hash >>> 0;
};

export type RpcAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly code: "HANDLER_FAILED" | "ANSWER_TOO_LARGE"; readonly reason: string };

/** A handler's result as a body of `limit` bytes at most; undefined is answered as null. */
export const encodeAnswer = (value: unknown, limit = RPC_LIMIT): RpcAnswer => {
  const encoded = encodeJson(value ?? null, "free", limit);
  if (!encoded.ok && !encoded.tooLarge)
    return { ok: false, code: "HANDLER_FAILED", reason: `the answer: ${encoded.reason}` };
  if (encoded.ok && fits(encoded.text, limit)) return encoded;
  return { ok: false, code: "ANSWER_TOO_LARGE", reason: `the answer takes more than ${limit} bytes` };
};

/** A structured error as a body. The message is cut at 200 characters. */
export const encodeError = (code: RpcErrorCode, message: string = RPC_ERRORS[code]): string => {
  const short = message.length > MAX_MESSAGE ? message.slice(0, MAX_MESSAGE) : message;
  return `{"error":{"code":"${code}","message":${quote(short)}}}`;
};

/** A call of the platform; parameters left out are sent as null, which the platform asks for. */
export const encodeCall = (
  method: unknown,
  params: unknown,
  limit = RPC_LIMIT,
):
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string; readonly tooLarge: boolean } => {
  if (typeof method !== "string" || method === "") {
    return { ok: false, reason: "the method must be a text that is not empty", tooLarge: false };
  }
  const encoded = encodeJson(params ?? null, "free", limit);
  if (!encoded.ok)
    return { ok: false, reason: `the parameters: ${encoded.reason}`, tooLarge: encoded.tooLarge };
  const text = `{"method":${quote(method)},"params":${encoded.text}}`;
  if (fits(text, limit)) return { ok: true, text };
  return { ok: false, reason: `the call takes more than ${limit} bytes`, tooLarge: true };
};

export type CallAnswer =
  | { readonly kind: "answer"; readonly value: Json }
  /** The platform's or the rule chain's `{"error": ...}`, which comes with status 200. */
  | { readonly kind: "error"; readonly error: Json }
  | { readonly kind: "malformed"; readonly reason: JsonProblem };

/** Reads the answer to a call. */
export const parseCallAnswer = (text: string): CallAnswer => {
  const parsed = parseJson(text);
  if (!parsed.ok) return { kind: "malformed", reason: parsed.reason };
  const { value } = parsed;
  if (isObject(value) && Object.hasOwn(value, "error") && Object.keys(value).length === 1) {
    return { kind: "error", error: value.error as Json };
  }
  return { kind: "answer", value };
};
