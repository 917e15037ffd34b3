/** A request. Header names are in lower case; `url` is percent-encoded. */
export interface DeviceRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string | undefined>>;
  body: Uint8Array;
}

/** Path and query. */
export function splitUrl(url: string): [path: string, query: string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}

/** These bytes in place of an answer, and then the end of the connection, in order or not. */
export interface Wire {
  bytes: Uint8Array;
  end: "close" | "reset";
}

/** A list is a header that is sent once for each item. */
export type Headers = Readonly<Record<string, string | readonly string[]>>;

export interface DeviceResponse {
  status: number;
  /** Of the status line. The platform gives none, a proxy does. */
  reason?: string;
  /** Without those that say how long the body is and what becomes of the connection. */
  headers: Headers;
  body: Uint8Array;
  /** The platform did not know the length when it began. */
  chunked?: boolean;
  /** Where a fault was asked for: what goes out instead. */
  wire?: Wire;
}

export const VARY = ["Origin", "Access-Control-Request-Method", "Access-Control-Request-Headers"];

/** As the real server sends them with every answer of the device API. */
const SECURITY_HEADERS = {
  Vary: VARY,
  "X-Content-Type-Options": "nosniff",
  "X-XSS-Protection": "0",
  "Cache-Control": "no-cache, no-store, max-age=0, must-revalidate",
  Pragma: "no-cache",
  Expires: "0",
  "X-Frame-Options": "DENY",
};

const NOTHING = new Uint8Array(0);

export function response(
  status: number,
  body: Uint8Array | string = NOTHING,
  contentType?: string,
  headers: Headers = {},
): DeviceResponse {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  const type = contentType === undefined ? {} : { "Content-Type": contentType };
  return { status, headers: { ...SECURITY_HEADERS, ...headers, ...type }, body: bytes };
}

/** `errorCode` of a status; 2 for others. */
export const ERROR_CODES: Readonly<Record<number, number>> = {
  ...{ 400: 31, 401: 10, 403: 20, 404: 32, 405: 31, 406: 31, 413: 31, 415: 31, 429: 33 },
};

/** `{"message":"…","errorCode":32,"status":404,"timestamp":1700000000000}` */
export function errorJson(status: number, message: string | null, now: number): string {
  return JSON.stringify({ message, errorCode: ERROR_CODES[status] ?? 2, status, timestamp: now });
}

export const JSON_TYPE = "application/json";
export const TEXT_TYPE = "text/plain;charset=UTF-8";

/** An error of the platform's framework: JSON, chunked. */
export function errorAnswer(
  status: number,
  message: string | null,
  now: number,
  headers: Headers = {},
): DeviceResponse {
  return { ...response(status, errorJson(status, message, now), JSON_TYPE, headers), chunked: true };
}

/** An error outside the platform's framework, without its usual headers. */
export function lateError(
  status: number,
  message: string,
  now: number,
  headers: Headers = {},
): DeviceResponse {
  const body = Buffer.from(errorJson(status, message, now));
  return { status, headers: { ...headers, "Content-Type": JSON_TYPE }, body, chunked: true };
}

/** A fault in the platform's own code, answered with its message in Latin letters. */
export function faultAnswer(status: number, message: string, now: number): DeviceResponse {
  const json = JSON.stringify({ status, message, errorCode: ERROR_CODES[status] ?? 2, timestamp: now });
  const latin = json.replace(/[^\0-\xff]/gu, "?");
  return response(status, Buffer.from(latin, "latin1"), "application/json;charset=ISO-8859-1");
}
