import { characters, isSameName, spanOf } from "../wire/text/characters.js";
import { clockTimestamp, type Timestamp } from "../wire/timestamp.js";
import { receiptProblem } from "./receipt.js";
import type { Answer } from "./response.js";

/**
 * The outcome of a request. Each request has exactly one.
 * - `done`: accepted: 200 or 204, and any 2xx that only confirms (receipt.ts). `body` is the
 *   answer; `whole` is false if it exceeded the limit, and `body` is its beginning.
 * - `refused`: rejected: 4xx except those below, and 500 with a text. Repeating it does not help.
 * - `busy`: try later: 408, 429, 500 without a body, 502, 503, 504 and other 5xx. `retryAfterMs`:
 *   if the platform sent it.
 * - `lost`: no answer of the platform: no connection, time-out, or a foreign answer (not HTTP, only
 *   1xx, 3xx, 511). It may have been processed. `reason`: for people. `sent`: at least the
 *   beginning of the request was sent.
 */
export type Outcome =
  | {
      readonly kind: "done";
      readonly status: number;
      readonly body: Uint8Array;
      readonly whole: boolean;
      /** Value of the Date header, if plausible. */
      readonly date: Timestamp<"server"> | undefined;
    }
  | { readonly kind: "refused"; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: "busy"; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: "lost"; readonly reason: string; readonly sent?: true };

/**
 * The request was never sent because others occupied its connection. Says nothing about the
 * platform.
 */
export const NO_TURN = "timed out waiting for the connection";

/** The request was sent completely, and no byte came back before the deadline. */
export const SILENCE = "no answer in time";

/** The connection was not established before the deadline. */
export const UNCONNECTED = "no connection in time";

/**
 * The request met a 401 and was not processed. The session withdraws the token; the job waits until
 * it is known again or another one is set.
 */
export const TOKEN_REFUSED = "the platform does not know the token";

/**
 * Status of a refusal without an answer: the body was lost again and again while the platform
 * answered other requests (body-sender.ts).
 */
export const UNANSWERED = 0;

/** True if the request was sent completely and nothing came back before the deadline. */
export const isSilence = (outcome: Outcome): boolean => {
  return outcome.kind === "lost" && outcome.reason === SILENCE;
};

// Maps an answer to an outcome.

const BUSY = [408, 429, 502, 503, 504];
/** `{`, `[`, `"`, a number, or the first letter of true, false and null. */
const JSON_STARTS = characters('{{[[""--09ttffnn');
const NOT_JSON = "foreign answer";
const ORIGIN = characters("azAZ09..::--[[]]");
const MAX_ORIGIN = 100;

/**
 * - `value`: the body is what was asked for.
 * - `receipt`: the answer only confirms (receipt.ts).
 * - `streamed`: a 200, or part of a file, went to a sink, so there is no body to check.
 */
export type AnswerUse = "value" | "receipt" | "streamed";

export const classify = (answer: Answer, use: AnswerUse): Outcome => {
  const { status, body, whole, date } = answer;
  const isReceipt = use === "receipt" && status < 300;
  if (isReceipt || status === 200 || status === 204 || (status === 206 && use === "streamed")) {
    const problem = isReceipt ? receiptProblem(body) : use === "value" ? valueProblem(body) : undefined;
    if (problem !== undefined) return lost(problem);
    return { kind: "done", status, body, whole, date: clockTimestamp<"server">(date) };
  }
  const origin = status >= 300 && status < 400 ? originOf(answer.location) : undefined;
  if (origin !== undefined) return lost(`redirected to ${origin} (status ${status}): set the base URL to it`);
  if (status < 400) return lost(`foreign answer (status ${status})`);
  // Network authentication required: a captive portal.
  if (status === 511) return lost("foreign answer (status 511)");
  const hasText = body.length > 0 || !whole;
  const busy = BUSY.includes(status) || (status >= 500 && (status !== 500 || !hasText));
  if (busy) return { kind: "busy", status, retryAfterMs: answer.retryAfterMs };
  return { kind: "refused", status, body };
};

export const lost = (reason: string, sent = false): Outcome => {
  return sent ? { kind: "lost", reason, sent } : { kind: "lost", reason };
};

/**
 * `https://host:8080` of an absolute http or https address, for people; undefined if it is not
 * plain. The path may contain a token.
 */
const originOf = (location = ""): string | undefined => {
  const start = location.indexOf("://") + 3;
  const scheme = ["https://", "http://"].find((one) => isSameName(location.slice(0, start), one));
  const authority = location.slice(start, start + spanOf(location.slice(start, start + MAX_ORIGIN), ORIGIN));
  const isEnd = ["", "/", "?"].includes(location.charAt(start + authority.length));
  return scheme !== undefined && authority !== "" && isEnd ? scheme + authority : undefined;
};

/** A captive portal answers every request with 200 and a page. */
const valueProblem = (body: Uint8Array): string | undefined =>
  body.length === 0 || looksLikeJson(body) ? undefined : NOT_JSON;

/** Checks only the first byte after white space. */
const looksLikeJson = (body: Uint8Array): boolean => {
  let at = 0;
  while (isWhite(body[at])) at++;
  return JSON_STARTS[body[at] as number] === 1;
};

const isWhite = (byte: number | undefined): boolean => {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
};
