/** A request as it came. Header names are in lower case; `url` is path and query, still percent-encoded. */
export interface DeviceRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

/** These bytes in place of an answer, and then the end of the connection, in order or not. */
export interface Wire {
  bytes: Uint8Array;
  end: "close" | "reset";
}

export interface DeviceResponse {
  status: number;
  /** Of the status line. The platform gives none, a proxy does. */
  reason?: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Where a fault was asked for: what goes out instead. */
  wire?: Wire;
}

/** As the real server sends them with every answer of the device API. */
const SECURITY_HEADERS = {
  Vary: "Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
  "X-Content-Type-Options": "nosniff",
  "X-XSS-Protection": "0",
  "Cache-Control": "no-cache, no-store, max-age=0, must-revalidate",
  Pragma: "no-cache",
  Expires: "0",
  "X-Frame-Options": "DENY",
};

/** After these the server closes the connection. */
const CLOSING = new Set([400, 408, 411, 413, 414, 500, 501, 503]);

export function response(
  status: number,
  body: Uint8Array | string = "",
  contentType?: string,
  headers: Record<string, string> = {},
): DeviceResponse {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const all: Record<string, string> = { ...SECURITY_HEADERS, ...headers };
  if (contentType !== undefined) all["Content-Type"] = contentType;
  all["Content-Length"] = String(bytes.length);
  if (CLOSING.has(status)) all.Connection = "close";
  return { status, headers: all, body: bytes };
}

const ERROR_CODES: Record<number, number> = {
  ...{ 400: 31, 405: 31, 406: 31, 415: 31 },
  ...{ 401: 10, 403: 20, 404: 32, 500: 2, 503: 2 },
};

/** `{"status":404,"message":"…","errorCode":32,"timestamp":1700000000000}` */
export function errorJson(status: number, message: string | null, now: number): string {
  return JSON.stringify({ status, message, errorCode: ERROR_CODES[status] ?? 2, timestamp: now });
}

/** What the web server under the platform says to a request it can't read. */
export const HTML_400 =
  '<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title></head><body><h1>HTTP Status 400 – Bad Request</h1></body></html>';

/** An answer as it goes over the wire; `head` is the length of its head. */
export function wireBytes(
  { status, reason = "", headers, body }: DeviceResponse,
  now: number,
): { whole: Uint8Array; head: number } {
  const dated = { Date: new Date(now).toUTCString(), ...headers };
  const lines = Object.entries(dated).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`HTTP/1.1 ${status} ${reason}\r\n${lines.join("")}\r\n`, "latin1");
  return { whole: Buffer.concat([head, body]), head: head.length };
}
