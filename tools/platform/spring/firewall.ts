// Requests that the platform's framework (Spring Security) rejects before the platform sees them.

import { type DeviceResponse, lateError } from "../device/messages.js";
import { decodePercent } from "./convert.js";

const METHODS = new Set(["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"]);
const ENCODED = /;|%3b|%2f|\/\/|\\|%5c|%00|%0a|%0d|%25|%2e/i;
const DECODED = /[;\\\0\n\r%\u2028\u2029]|\/\//;
const DOTS = /(?:^|\/)\.{1,2}(?:\/|$)/;
const TRACED = "HEAD, DELETE, POST, GET, OPTIONS, PUT";

/** Undefined: it passes. */
export function firewall(method: string, path: string, now: number): DeviceResponse | undefined {
  const bare = { headers: {}, body: new Uint8Array(0) };
  if (method === "TRACE") return { status: 400, ...bare, headers: { Allow: TRACED } };
  if (!METHODS.has(method)) return { status: 400, ...bare };
  if (!ENCODED.test(path) && !DOTS.test(path) && !(path.includes("%") && DECODED.test(decodePercent(path))))
    return undefined;
  return lateError(400, "Bad Request", now);
}
