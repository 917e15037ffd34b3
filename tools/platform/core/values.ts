// Types of values by their JSON literal: LONG is a bigint, DOUBLE a number, JSON a JsonText.

import { decimalOf, isWhole, plainText, wholeOf } from "./json/decimal.js";
import { type Json, JsonNumber, jsonText, quoted, wellFormed } from "./json/json.js";

/** A JSON value as text. */
export class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Value = boolean | bigint | number | string | JsonText;

/** A number of more digits than the platform takes: its 500 has no text. */
export class NumberTooLongError extends Error {
  override name = "NumberTooLongError";
}

const LARGEST = 2n ** 63n - 1n;
const SMALLEST = -(2n ** 63n);
/** Fraction digits of a DOUBLE; with more it is a STRING. */
const FRACTION = 16;
/** What Java writes without an exponent. */
const PLAIN = { least: 1e-3, end: 1e7 };
/** Digits that always fit into a LONG, and into a number without a loss. */
const FEW = 15;
const PARSABLE = /^-?(?:\d+|\d*\.\d+)$/;
const WHOLE = /^-?\d+$/;
const POINTED = /^-?\d+\.\d+$/;

/** The value of a literal; undefined for null, which is skipped. */
export function typed(json: Json): Value | undefined {
  if (json === null) return undefined;
  if (typeof json === "boolean") return json;
  if (typeof json === "string") return PARSABLE.test(json) ? castString(json) : storedText(json);
  if (json instanceof JsonNumber) return numeric(json.text);
  return new JsonText(jsonText(json));
}

/** Like `typed`, for values of devices: drops null members and converts twice. */
export function typedTwice(json: Json): Value | undefined {
  if (json instanceof Map || Array.isArray(json)) return new JsonText(jsonText(json, { dropNulls: true }));
  const value = typed(json);
  return typeof value === "number" ? typedDouble(value) : value;
}

/** What becomes of a DOUBLE that is written out and read once more. */
export function typedDouble(value: number): Value {
  // In plain digits, and as few of them as will do, it is the same number again.
  const size = Math.abs(value);
  return size >= PLAIN.least && size < PLAIN.end ? value : numeric(javaDouble(value));
}

function castString(text: string): Value {
  try {
    return numeric(text);
  } catch {
    return storedText(text);
  }
}

/** The platform's database takes no NUL: it is left out. */
function storedText(text: string): string {
  return wellFormed(text).replaceAll("\0", "");
}

function numeric(text: string): Value {
  // A decimal has no zero below zero.
  if (text.length <= FEW && POINTED.test(text)) return Number(text) + 0;
  if (text.length <= FEW && WHOLE.test(text)) return BigInt(text);
  const decimal = decimalOf(text);
  if (!decimal) throw new NumberTooLongError();
  const pointed = text.includes(".") && !text.includes("e") && !text.includes("E");
  if (!pointed && isWhole(decimal)) {
    const long = wholeOf(decimal);
    return long >= SMALLEST && long <= LARGEST ? long : plainText(decimal);
  }
  return decimal.scale <= FRACTION ? Number(text) + 0 : plainText(decimal);
}

/** A double as Java writes it: 42.0, 1.2345678E7, 1.0E-4. Always valid JSON. */
export function javaDouble(value: number): string {
  const size = Math.abs(value);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (size >= PLAIN.least && size < PLAIN.end) {
    const text = String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  const [mantissa = "", exponent = ""] = value.toExponential().split("e");
  return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}E${exponent.replace("+", "")}`;
}

/** As the platform answers it. */
export function valueJson(value: Value): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return javaDouble(value);
  if (value instanceof JsonText) return value.text;
  return typeof value === "string" ? quoted(value) : String(value);
}

/** As the platform answers it where every value is text (time series without strict types). */
export function valueText(value: Value): string {
  return typeof value === "string" ? value : valueJson(value);
}

/** Whether both are the same value of the same type. */
export function sameValue(one: Value | undefined, other: Value): boolean {
  if (one instanceof JsonText && other instanceof JsonText) return one.text === other.text;
  return Object.is(one, other);
}

const LONGEST_KEY = 255;
const MARKUP = /<[a-zA-Z!/?]|\{\{.*\}\}/s;

/** Whether the platform takes a text for something that a page could run. */
export function isMarkup(text: string): boolean {
  return (text.includes("<") || text.includes("{")) && MARKUP.test(text);
}

/** True if the platform stores this key. Otherwise it drops the whole element silently. */
export function isStorableKey(key: string): boolean {
  return key.trim() !== "" && key.length <= LONGEST_KEY && !key.includes("\0") && !isMarkup(key);
}
