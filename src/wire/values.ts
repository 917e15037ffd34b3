// Telemetry values and client attributes as the application hands them in:
//
//   {"temperature":21.5,"count":42,"open":true,"mode":"auto","limits":{"low":1,"high":[2,null]}}
//
// The platform casts strings that look like numbers: "007" is stored as 7, "1.10" as 1.1, "-5" as -5 (but "1e3", "+5", " 42" and "1.0.0" stay
// strings). They leave as they are: what is to stay a string must not look like a number. A double without decimals is stored as a long.
import { type Encoded, encodeJson } from "./encode.js";
import { isObject, type JsonObject } from "./json.js";

/** Characters of one set of values, unless the caller says otherwise. */
export const VALUES_LIMIT = 65_536;

/**
 * What most points look like: plain keys, numbers of a few digits, booleans, texts without escapes. What is written natively and
 * found to be that needs no other check, which saves three quarters of the time on XS.
 */
const PLAIN =
  /^\{"[\w.-]{1,100}":(?:-?\d{1,15}|-?\d{1,8}\.\d{1,7}|true|false|"[^"\\]*")(?:,"[\w.-]{1,100}":(?:-?\d{1,15}|-?\d{1,8}\.\d{1,7}|true|false|"[^"\\]*"))*\}$/;
const tagOf = Object.prototype.toString;

/**
 * Checks and writes one set of values: keys after `checkKey`; values string, boolean, finite number below 2^63 in size, BigInt of 64 bits, JSON of 32 levels
 * at most. Refused besides: an empty set, null (the platform drops it; nulls in arrays stay), undefined, functions, Dates, cycles. `limit` in characters.
 */
export function encodeValues(values: unknown, limit = VALUES_LIMIT): Encoded {
  if (!isObject(values))
    return { ok: false, reason: "values must be an object of keys and values", tooLarge: false };
  const plain = encodePlain(values, limit);
  if (plain !== undefined) return { ok: true, text: plain };
  const encoded = encodeJson(values, "stored", limit);
  if (encoded.ok && encoded.text === "{}")
    return { ok: false, reason: "there are no values", tooLarge: false };
  return encoded;
}

/** Undefined for all that is not plain, or not right: `encodeJson` knows. */
function encodePlain(values: JsonObject, limit: number): string | undefined {
  try {
    if (tagOf.call(values) !== "[object Object]" || "toJSON" in values) return undefined;
    for (const key of Object.keys(values)) {
      const value = values[key];
      const type = typeof value;
      if (type === "string" ? (value as string).length > limit : type !== "number" && type !== "boolean")
        return undefined;
    }
    const text = JSON.stringify(values);
    return text.length < limit && PLAIN.test(text) ? text : undefined;
  } catch {
    // A getter or a proxy of the application threw.
    return undefined;
  }
}
