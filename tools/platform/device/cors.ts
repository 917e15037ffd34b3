// CORS as Spring does it: the platform allows every origin.

import { type DeviceRequest, type DeviceResponse, type Headers, response } from "./messages.js";

type Asking = Pick<DeviceRequest, "method" | "headers">;

/** Headers of every answer to a page of another origin; undefined if none asked. */
export function corsHeaders({ headers }: Asking): Headers | undefined {
  const { origin } = headers;
  if (origin === undefined || isOwn(origin, headers.host)) return undefined;
  return { "Access-Control-Allow-Origin": origin, "Access-Control-Allow-Credentials": "true" };
}

/** The answer to a page that asks whether it may ask. */
export function preflight(request: Asking): DeviceResponse | undefined {
  const { headers } = request;
  const method = headers["access-control-request-method"];
  if (request.method !== "OPTIONS" || headers.origin === undefined || method === undefined) return undefined;
  const allowed = corsHeaders(request);
  if (!allowed) return response(200);
  const asked = (headers["access-control-request-headers"] ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  return response(200, "", undefined, {
    "Access-Control-Allow-Origin": allowed["Access-Control-Allow-Origin"] as string,
    "Access-Control-Allow-Methods": method,
    ...(asked.length > 0 && { "Access-Control-Allow-Headers": asked.join(", ") }),
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Max-Age": "1800",
  });
}

function isOwn(origin: string, host: string | undefined): boolean {
  const [, name, port = "80"] = /^http:\/\/(.*?)(?::(\d+))?$/.exec(origin) ?? [];
  const [, own, ownPort = "80"] = /^(.*?)(?::(\d+))?$/.exec(host ?? "") ?? [];
  return name === own && port === ownPort;
}
