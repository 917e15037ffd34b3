// The requests that more than one loop sends.

import type { Request } from "../http/request.js";
import { attributesPath } from "../wire/paths.js";
import { EXCHANGE_MS } from "./wait.js";

/** Of the answer to a POST only an error's text is longer than nothing, and nobody reads it to its end. */
const LIMIT = 1024;

/** Bytes before a body that may be overwritten: for the head of its request. */
export const HEAD_ROOM = 320;

/** Statuses by which the platform refuses a content; 500 is only refused if it came with a text. Others say that the address or a proxy is wrong. */
export const CONTENT: readonly number[] = [400, 403, 413, 422, 500];

/** Whether the platform knows the token: GET attributes is the one harmless request that needs it. */
export const PROBE: Request = {
  method: "GET",
  path: attributesPath("?sharedKeys=fw_version"),
  deadlineMs: EXCHANGE_MS,
  limit: LIMIT,
  repeatable: true,
};

/** A POST that may reach the platform twice without harm. */
export const post = (path: string, body: Uint8Array, deadlineMs = EXCHANGE_MS): Request => {
  return { method: "POST", path, body, deadlineMs, limit: LIMIT, repeatable: true };
};
