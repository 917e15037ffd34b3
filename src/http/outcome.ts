import { clockTimestamp, type Timestamp } from "../wire/timestamp.js";
import type { Answer } from "./response.js";

/**
 * What became of one request. Each request gets exactly one.
 *
 * - `done`: the platform took it: 200 (or 204). `body` is the answer; `whole` is false if it was longer than the request allowed
 *   (then `body` is its beginning).
 * - `refused`: the platform read it and will not have it: 400 to 499 but those below, 500 with a text. Repeating it is of no use.
 * - `busy`: not now: 408, 429, 500 without a body, 502, 503, 504 and the other 5xx. `retryAfterMs` if the platform said.
 * - `lost`: no answer of the platform: no connection, a time-out, an answer that is not HTTP or not the platform's (1xx only,
 *   3xx, 511). It may or may not have been processed. `reason` is for people.
 */
export type Outcome =
  | {
      readonly kind: "done";
      readonly status: number;
      readonly body: Uint8Array;
      readonly whole: boolean;
      /** Of the Date header, if that can be right. */
      readonly date: Timestamp<"server"> | undefined;
    }
  | { readonly kind: "refused"; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: "busy"; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: "lost"; readonly reason: string };

/** The reason of a request that others on its connection kept from being sent: it says nothing about the platform. */
export const NO_TURN = "others took all the time";

/** The reason of a request that was sent whole and got not one byte until its deadline. */
export const SILENCE = "no answer in time";

/** The reason of a request whose connection did not come about until its deadline. */
export const UNCONNECTED = "no connection in time";

/** The reason of a request that met a 401, so that it was not processed: the session withdraws the token, and the job waits for another. */
export const TOKEN_REFUSED = "the platform does not know the token";

/** True if the request was sent whole and nothing came back until its deadline. */
export const isSilence = (outcome: Outcome): boolean => {
  return outcome.kind === "lost" && outcome.reason === SILENCE;
};

// From an answer of whoever is at the other end to what it means for the request.

const BUSY = [408, 429, 502, 503, 504];
const WORDS = ["true", "false", "null"];
const NOT_JSON = "foreign answer";

/** `streamed`: a 200 (or a part of a file) went to a sink, so there is no body to look at. */
export const classify = (answer: Answer, streamed: boolean): Outcome => {
  const { status, body, whole, date } = answer;
  if (status === 200 || status === 204 || (status === 206 && streamed)) {
    // A captive portal answers 200 to everything, with a page.
    if (!streamed && body.length > 0 && !looksLikeJson(body)) return lost(NOT_JSON);
    return { kind: "done", status, body, whole, date: clockTimestamp<"server">(date) };
  }
  if (status < 400) return lost(`foreign answer (status ${status})`);
  // Network authentication required: a captive portal that says so.
  if (status === 511) return lost("foreign answer (status 511)");
  const hasText = body.length > 0 || !whole;
  const busy = BUSY.includes(status) || (status >= 500 && (status !== 500 || !hasText));
  if (busy) return { kind: "busy", status, retryAfterMs: answer.retryAfterMs };
  return { kind: "refused", status, body };
};

export const lost = (reason: string): Outcome => {
  return { kind: "lost", reason };
};

/** Looks at the first bytes only: `{`, `[`, `"`, a number, true, false or null after white space. */
const looksLikeJson = (body: Uint8Array): boolean => {
  let at = 0;
  while (isWhite(body[at])) at++;
  const first = body[at];
  if (first === 0x7b || first === 0x5b || first === 0x22 || first === 0x2d) return true;
  if (first === undefined) return false;
  if (first >= 0x30 && first <= 0x39) return true;
  return WORDS.some((word) => beginsWith(body, at, word));
};

const isWhite = (byte: number | undefined): boolean => {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
};

/** As far as the body goes. */
const beginsWith = (body: Uint8Array, at: number, word: string): boolean => {
  for (let i = 0; i < word.length && at + i < body.length; i++)
    if (body[at + i] !== word.charCodeAt(i)) return false;
  return true;
};
