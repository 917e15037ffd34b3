// Coerces members like Gson's getAsString, getAsLong and getAsBoolean.

import { decimalOf, wholeOf } from "./decimal.js";
import { type Json, JsonNumber } from "./json.js";

/** A member of the wrong type; the message is the platform's, where an answer shows it. */
export class MemberError extends Error {
  override name = "MemberError";
}

/** A value is its own text, a list of one is its item. Throws MemberError. */
export function asText(json: Json): string {
  const item = single(json);
  return item instanceof JsonNumber ? item.text : String(item);
}

/** A number, truncated to 64 bits without fraction, or digits as text. Throws MemberError. */
export function asLong(json: Json): bigint {
  const item = single(json);
  if (item instanceof JsonNumber) {
    const value = decimalOf(item.text);
    if (!value) throw new MemberError(`Number has unsupported scale: ${item.text}`);
    return BigInt.asIntN(64, wholeOf(value));
  }
  const whole = parseLong(String(item));
  if (whole === undefined) throw new MemberError(`For input string: "${String(item)}"`);
  return whole;
}

/** True, or the text of it in any case. Throws MemberError. */
export function asBoolean(json: Json): boolean {
  return asText(json).toLowerCase() === "true";
}

function single(json: Json): Exclude<Json, null | Json[] | Map<string, Json>> {
  let item = json;
  while (Array.isArray(item)) {
    if (item.length !== 1) throw new MemberError(`Array must have size 1, but has size ${item.length}`);
    item = item[0] as Json;
  }
  if (item === null) throw new MemberError("JsonNull");
  if (item instanceof Map) throw new MemberError("JsonObject");
  return item;
}

const DIGITS = /^[+-]?\d{1,100}$/;

function parseLong(text: string): bigint | undefined {
  if (!DIGITS.test(text)) return undefined;
  const value = BigInt(text.replace("+", ""));
  return BigInt.asIntN(64, value) === value ? value : undefined;
}
