// What is a delivery? A request whose answer only confirms it (telemetry, client attributes,
// answers to RPCs, claims) is delivered by any 2xx, except one of these. They mean that something
// else than the platform answered, or that the platform failed:
//
// | body | for example |
// |---|---|
// | not text | another protocol, or compressed by a proxy |
// | a page | the login page of a captive portal |
// | a JSON object with `error`, or a `status` of 400 and more | `{"status":401,"message":"..."}` |
//
// So an empty body is a delivery, and so is any other text.

import { isObject, type JsonObject, parseJson } from "../wire/text/json.js";
import { decodeStart } from "../wire/text/text.js";

const TAB = 0x09;
const CR = 0x0d;
const SPACE = 0x20;
const STATUS = '"status":';
const FIRST_ERROR = 400;

/** Why a 2xx with this body, or the beginning of a body, delivers nothing; undefined if it does. */
export const receiptProblem = (body: Uint8Array): string | undefined => {
  if (body.length === 0) return undefined;
  if (body.some(isControl)) return "foreign answer: not text";
  const text = withoutMark(decodeStart(body, body.length)).trimStart();
  if (text.startsWith("<")) return "foreign answer: a web page";
  return text.startsWith("{") && reportsError(text) ? "the answer reports an error" : undefined;
};

const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

const isControl = (byte: number): boolean => byte < SPACE && !(byte >= TAB && byte <= CR);

const reportsError = (text: string): boolean => {
  const parsed = parseJson(text);
  if (parsed.ok) return isObject(parsed.value) && isError(parsed.value);
  // Only the beginning of an object, or not quite JSON.
  const at = text.indexOf(STATUS);
  return text.includes('"error":') || (at >= 0 && numberAt(text, at + STATUS.length) >= FIRST_ERROR);
};

const isError = (value: JsonObject): boolean =>
  Object.hasOwn(value, "error") || (Object.hasOwn(value, "status") && Number(value.status) >= FIRST_ERROR);

const numberAt = (text: string, at: number): number => Number.parseInt(text.slice(at, at + 10), 10);
