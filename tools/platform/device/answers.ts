// Answers in the type that a device wants to have them in, as the platform's framework chooses it.

import { decodePercent } from "../spring/convert.js";
import { acceptedTypes, negotiate } from "../spring/media-type.js";
import { type DeviceRequest, type DeviceResponse, errorJson, type Headers, response } from "./messages.js";

export const JSON_TYPE = "application/json";
export const TEXT_TYPE = "text/plain;charset=UTF-8";
/** What the framework makes of an error, and of a text: it takes any name for a text. */
const ERRORS = ["application/json", "application/*+json", "application/cbor", "application/yaml"];
const TEXTS = ["text/plain", "*/*", ...ERRORS];
const SAFE_ENDINGS = new Set([
  ...["txt", "text", "yml", "properties", "csv", "json", "xml", "atom", "rss"],
  ...["png", "jpe", "jpeg", "jpg", "gif", "wbmp", "bmp"],
]);

/** Text of the platform. Who can't read any gets an error without it, and what isn't an error not at all. */
export function textAnswer(request: DeviceRequest, status: number, text: string): DeviceResponse {
  const accepted = acceptedTypes(request.headers.accept);
  const wanted = accepted && negotiate(accepted, TEXTS);
  if (wanted === undefined) return response(status >= 400 ? status : 406);
  // A text is not called bytes.
  const type = wanted === "application/octet-stream" ? TEXT_TYPE : withCharset(wanted);
  return response(status, text, type, disposition(request));
}

export function errorAnswer(
  request: DeviceRequest,
  status: number,
  message: string | null,
  now: number,
  headers: Headers = {},
): DeviceResponse {
  const accepted = acceptedTypes(request.headers.accept);
  if (!accepted) return response(status, "", undefined, headers);
  const type = negotiate(accepted, ERRORS);
  if (type === undefined) {
    const before = headers.Accept === undefined ? [] : [headers.Accept].flat();
    return response(406, "", undefined, { ...headers, Accept: [...before, ERRORS.join(", ")] });
  }
  const all = { ...headers, ...disposition(request) };
  return { ...response(status, errorJson(status, message, now), type, all), chunked: true };
}

/** What ends like a file must not be taken for one by a browser. */
function disposition({ url }: DeviceRequest): Headers {
  const [path = ""] = url.split("?", 1);
  const [, ending = ""] = /\.([^./]*)$/.exec(decodePercent(path.slice(path.lastIndexOf("/")))) ?? [];
  const isSafe = ending.trim() === "" || SAFE_ENDINGS.has(ending.toLowerCase());
  return isSafe ? {} : { "Content-Disposition": "inline;filename=f.txt" };
}

/** JSON is in UTF-8 anyway. */
function withCharset(type: string): string {
  return type.includes("charset=") || /^application\/(?:.*\+)?json/.test(type)
    ? type
    : `${type};charset=UTF-8`;
}
