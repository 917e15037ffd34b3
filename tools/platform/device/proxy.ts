import type { DeviceResponse } from "./messages.js";

/** How long the proxy that the platform is shipped with waits for an answer. */
export const PROXY_CUT_MS = 50_000;
/**
 * When a request behind the proxy would end with 503: the platform in several processes is more
 * patient than in one.
 */
export const PROXIED_CAP_MS = 300_000;
export const HTML_504 =
  "<html><body><h1>504 Gateway Time-out</h1>\nThe server didn't respond in time.\n</body></html>\n";

/** What the proxy says in place of the platform; then it closes the connection. */
export function gatewayTimeout(): DeviceResponse {
  const body = Buffer.from(HTML_504);
  const headers = {
    "Cache-Control": "no-cache",
    "Content-Type": "text/html",
    Connection: "close",
  };
  return { status: 504, reason: "Gateway Time-out", headers, body };
}
