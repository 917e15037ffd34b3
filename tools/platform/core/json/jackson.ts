// JSON of the operator's REST, which passes through Java's number types.

import { javaDouble } from "../values.js";
import { type Json, JsonNumber, quoted } from "./json.js";

const WHOLE = /^-?\d+$/;

/**
 * `{"a":1.50,"b":1e3}` -> `{"a":1.5,"b":1000.0}`: what has neither point nor exponent stays whole,
 * however long; all else is a double.
 */
export function throughJackson(json: Json): string {
  if (json instanceof JsonNumber) return number(json.text);
  if (Array.isArray(json)) return `[${json.map(throughJackson).join(",")}]`;
  if (typeof json === "string") return quoted(json);
  if (!(json instanceof Map)) return String(json);
  return `{${[...json].map(([key, member]) => `${quoted(key)}:${throughJackson(member)}`).join(",")}}`;
}

function number(text: string): string {
  if (WHOLE.test(text)) return String(BigInt(text));
  const double = Number(text);
  // JSON has no word for it.
  return Number.isFinite(double) ? javaDouble(double) : `"${double}"`;
}
