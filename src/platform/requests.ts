// Requests that several loops send, and what they have in common.

import { UNANSWERED } from "../http/outcome.js";
import type { Request } from "../http/request.js";
import { attributesPath } from "../wire/paths.js";

/**
 * Time limit of a request and its answer, in ms. A server answers 503 after 30 or 31 s if it has no
 * answer.
 */
export const EXCHANGE_MS = 35_000;

/** Limit for answers to POST: only error texts, which nobody reads completely. */
const LIMIT = 1024;

/** Free bytes before a body for the head of its request. */
export const HEAD_ROOM = 320;

/**
 * Statuses by which the platform refuses content (500 only with a text). Others point to a wrong
 * address or a proxy.
 */
export const CONTENT: readonly number[] = [UNANSWERED, 400, 403, 413, 422, 500];

/** Statuses of a body that may be too large. */
export const TOO_LARGE: readonly number[] = [UNANSWERED, 413];

/** The status of a refusal, for people. */
export const statusText = (status: number): string =>
  status === UNANSWERED ? "connections without an answer" : `status ${status}`;

/** `limit`: maximum bytes of the answer. */
export const getAttributes = (query: string, limit: number): Request => {
  return { method: "GET", path: attributesPath(query), deadlineMs: EXCHANGE_MS, limit, repeatable: true };
};

/**
 * Tests whether the platform knows the token. GET attributes is the one harmless request that needs
 * it.
 */
export const PROBE = getAttributes("?sharedKeys=fw_version", LIMIT);

/** A POST that may reach the platform twice without harm, and whose answer only confirms it. */
export const post = (path: string, body: Uint8Array, deadlineMs = EXCHANGE_MS): Request => {
  return { method: "POST", path, body, deadlineMs, limit: LIMIT, isReceipt: true, repeatable: true };
};
