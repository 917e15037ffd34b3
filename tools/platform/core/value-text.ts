// A stored value as text: its type by one letter, then itself.
import { JsonText, type Value } from "./values.js";

export function valueToText(value: Value): string {
  if (typeof value === "boolean") return value ? "b1" : "b0";
  if (typeof value === "bigint") return `l${value}`;
  if (typeof value === "number") return `d${Object.is(value, -0) ? "-0" : value}`;
  return value instanceof JsonText ? `j${value.text}` : `s${value}`;
}

/** Throws for what no value was written as. */
export function valueFromText(text: string): Value {
  const rest = text.slice(1);
  switch (text[0]) {
    case "b":
      return rest === "1";
    case "l":
      return BigInt(rest);
    case "d":
      return Number(rest);
    case "j":
      return new JsonText(rest);
    case "s":
      return rest;
    default:
      throw new TypeError("a value of no known type");
  }
}
