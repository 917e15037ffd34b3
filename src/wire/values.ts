// Telemetry values and client attributes as the application hands them in:
//
//   {"temperature":21.5,"count":42,"open":true,"mode":"auto","limits":{"low":1,"high":[2,null]}}
//
// The platform casts strings that look like numbers: "007" is stored as 7, "1.10" as 1.1, "-5" as
// -5 (but "1e3", "+5", " 42" and "1.0.0" stay strings). The agent does not change them: a string
// must not look like a number. A double without decimals is stored as a long.
import { type Encoded, encodeJson } from "./text/encode.js";
import { isObject } from "./text/json.js";

/** Default limit of one set of values, in characters. */
export const VALUES_LIMIT = 65_536;

/**
 * Encodes one set of values, without those that the platform cannot hold (`encodeJson`). Keys as in
 * `checkKey`; values string, boolean, finite number below 2^63, 64-bit BigInt, or JSON of at most
 * 32 levels. `limit` in characters.
 *
 * Fails with `leftOut` if no value remains, and without it if `values` is not an object.
 */
export const encodeValues = (values: unknown, limit = VALUES_LIMIT): Encoded => {
  if (!isObject(values))
    return { ok: false, reason: "values must be an object of keys and values", tooLarge: false };
  const encoded = encodeJson(values, "stored", limit);
  if (!encoded.ok || encoded.text !== "{}") return encoded;
  return { ok: false, reason: "no values given", tooLarge: false, leftOut: { count: 0, named: [] } };
};
