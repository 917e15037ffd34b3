// Server-side RPC: GET {token}/rpc delivers a request; POST {token}/rpc/{id} takes the answer, any
// JSON:
//
//   {"id":0,"method":"setLed","params":{"on":true}}
//   {"on":true}
//   {"error":{"code":"METHOD_NOT_FOUND","message":"no handler for this method"}}
//
// `id`: a number of 32 bits, or a string of its digits. It starts at 0 and is used again.
//
// Client-side RPC: POST {token}/rpc takes a call; the answer is the rule chain's, or on time-out:
//
//   {"method":"getCurrentTime","params":{}}
//   {"error":"timeout"}

import { DIGITS, isMadeOf } from "./text/characters.js";
import { encodeJson, type LeftOut } from "./text/encode.js";
import { isObject, type Json, type JsonProblem, parseJson } from "./text/json.js";
import { fits, quote } from "./text/text.js";

/** Structured error codes, with their default messages. */
export const RPC_ERRORS = {
  METHOD_NOT_FOUND: "no handler for this method",
  BAD_PARAMS: "the parameters are invalid",
  PARAMS_TOO_LARGE: "the request is too large or too deeply nested for this device",
  MEMORY_SHORT: "the device has too little free memory for this request now",
  HANDLER_FAILED: "the handler failed",
  TIMEOUT: "the handler took too long",
  OUTCOME_UNKNOWN: "the handler started, but its result is unknown",
  BUSY: "too many answers of this device are unacknowledged",
  ANSWER_TOO_LARGE: "the answer is too large, or was refused or lost on its way",
} as const;
export type RpcErrorCode = keyof typeof RPC_ERRORS;

/** Maximum size of an answer or call on the platform, in bytes. */
export const RPC_LIMIT = 65_536;
const MAX_MESSAGE = 200;
/** How the platform begins a request: `{"id":7,"method":"setLed",…`. */
const ID = '{"id":';
/** The `id` of a request that cannot be parsed is read from its first characters. */
const MAX_START = 32;

/** Why `params` is missing. `too-large` includes too deep. */
export type RpcProblem = "too-large" | "memory-short" | "malformed";

export interface RpcRequest {
  readonly ok: true;
  readonly id: number;
  /** Any text; empty with a `problem`. */
  readonly method: string;
  /** Null if the caller gave none; undefined only with a `problem`. */
  readonly params: Json | undefined;
  readonly problem: RpcProblem | undefined;
}

export type RpcParsed = RpcRequest | { readonly ok: false };

/**
 * Parses a request. `unread`: why not all of it is, for example because the text is only its
 * beginning. For an incomplete or invalid request, `id` is still read and `problem` is set, because
 * an unanswered request blocks later ones. `ok` is false without a usable id.
 */
export const parseRpcRequest = (text: string, unread: RpcProblem | undefined): RpcParsed => {
  if (unread) return fromBeginning(text, unread);
  const parsed = parseJson(text);
  if (!parsed.ok) return fromBeginning(text, problemOf(parsed.reason));
  if (!isObject(parsed.value)) return { ok: false };
  const { method, params } = parsed.value;
  const id = toId(Object.hasOwn(parsed.value, "id") ? parsed.value.id : undefined);
  if (id === undefined) return { ok: false };
  if (typeof method !== "string")
    return { ok: true, id, method: "", params: undefined, problem: "malformed" };
  return { ok: true, id, method, params: params === undefined ? null : params, problem: undefined };
};

const problemOf = (reason: JsonProblem): RpcProblem => (reason === "too-deep" ? "too-large" : "malformed");

const fromBeginning = (text: string, problem: RpcProblem): RpcParsed => {
  const start = text.slice(0, MAX_START);
  const comma = start.indexOf(",");
  const id = start.startsWith(ID) ? toId(jsonOf(start.slice(ID.length, comma))) : undefined;
  if (id === undefined) return { ok: false };
  return { ok: true, id, method: "", params: undefined, problem };
};

const jsonOf = (text: string): Json | undefined => {
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : undefined;
};

/** A signed 32-bit integer, as a number or decimal string. */
const toId = (value: Json | undefined): number | undefined => {
  const id = typeof value === "string" && isDecimal(value) ? Number(value) : value;
  if (typeof id !== "number" || (id | 0) !== id) return undefined;
  return id | 0;
};

const isDecimal = (text: string): boolean =>
  isMadeOf(text.startsWith("-") ? text.slice(1) : text, DIGITS, 10);

export type RpcAnswer =
  | { readonly ok: true; readonly text: string; readonly leftOut?: LeftOut }
  | { readonly ok: false; readonly code: "HANDLER_FAILED" | "ANSWER_TOO_LARGE"; readonly reason: string };

/**
 * Encodes a handler's result in at most `limit` bytes, without the members that JSON cannot hold;
 * undefined becomes null.
 */
export const encodeAnswer = (value: unknown, limit = RPC_LIMIT): RpcAnswer => {
  const encoded = encodeJson(value ?? null, "free", limit);
  if (!encoded.ok && !encoded.tooLarge)
    return { ok: false, code: "HANDLER_FAILED", reason: `the answer: ${encoded.reason}` };
  if (encoded.ok && fits(encoded.text, limit)) return encoded;
  return { ok: false, code: "ANSWER_TOO_LARGE", reason: `the answer exceeds ${limit} bytes` };
};

/**
 * Encodes a structured error; `message`: default for a code of `RPC_ERRORS`. The message is
 * truncated to 200 characters.
 */
export const encodeError = (code: string, message: string = RPC_ERRORS[code as RpcErrorCode]): string => {
  const short = message.length > MAX_MESSAGE ? message.slice(0, MAX_MESSAGE) : message;
  return `{"error":{"code":"${code}","message":${quote(short)}}}`;
};

/** Encodes a call. Missing parameters become null, which the platform requires. */
export const encodeCall = (
  method: unknown,
  params: unknown,
  limit = RPC_LIMIT,
):
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string; readonly tooLarge: boolean } => {
  if (typeof method !== "string" || method === "") {
    return { ok: false, reason: "the method must be a non-empty string", tooLarge: false };
  }
  const encoded = encodeJson(params ?? null, "free", limit);
  if (!encoded.ok)
    return { ok: false, reason: `the parameters: ${encoded.reason}`, tooLarge: encoded.tooLarge };
  // Without one of its parameters, a call would do something else.
  const [wrong] = encoded.leftOut?.named ?? [];
  if (wrong) return { ok: false, reason: `the parameters: ${wrong.reason}`, tooLarge: false };
  const text = `{"method":${quote(method)},"params":${encoded.text}}`;
  if (fits(text, limit)) return { ok: true, text };
  return { ok: false, reason: `the call exceeds ${limit} bytes`, tooLarge: true };
};

export type CallAnswer =
  | { readonly kind: "answer"; readonly value: Json }
  /** `{"error": ...}` of the platform or the rule chain, sent with status 200. */
  | { readonly kind: "error"; readonly error: Json }
  | { readonly kind: "malformed"; readonly reason: JsonProblem };

/** Parses the answer to a call. */
export const parseCallAnswer = (text: string): CallAnswer => {
  const parsed = parseJson(text);
  if (!parsed.ok) return { kind: "malformed", reason: parsed.reason };
  const { value } = parsed;
  if (isObject(value) && Object.hasOwn(value, "error") && Object.keys(value).length === 1) {
    return { kind: "error", error: value.error as Json };
  }
  return { kind: "answer", value };
};
