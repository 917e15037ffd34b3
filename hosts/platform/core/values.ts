// Which type a value gets: the platform's rules on the JSON literal. LONG is a bigint, DOUBLE a number, JSON a JsonText.

import { type Json, JsonNumber, jsonText } from "./json.js";

/** A JSON value as text, members that were null left out. */
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
/** Digits a number may take when written out. */
const DIGITS = 10_000;
/** What Java writes without an exponent. */
const PLAIN = { least: 1e-3, end: 1e7 };
/** Digits that always fit into a LONG, and into a number without a loss. */
const FEW = 15;
const PARSABLE = /^-?(?:[0-9]+|[0-9]*\.[0-9]+)$/;
const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39] as const;
const PARTS = /^(-?)([0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** The value of a literal; undefined for null, which is skipped. */
export function typed(json: Json): Value | undefined {
  if (json === null) return undefined;
  if (typeof json === "boolean") return json;
  if (typeof json === "string") return PARSABLE.test(json) ? castString(json) : json;
  if (json instanceof JsonNumber) return numeric(json.text);
  return new JsonText(jsonText(json, true));
}

/** As `typed`, but of what a device sent: the rule engine writes the value out and reads it once more. */
export function typedTwice(json: Json): Value | undefined {
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
    return text;
  }
}

function numeric(text: string): Value {
  if (text.length <= FEW) {
    const kind = plainKind(text);
    if (kind !== "other") return kind === "whole" ? BigInt(Number(text)) : Number(text);
  }
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = PARTS.exec(text) ?? [];
  const scale = fraction.length - Number(exponent);
  const digits = (whole + fraction).replace(/^0+(?=.)/, "");
  if (digits.length > DIGITS || Math.abs(scale) >= DIGITS) throw new NumberTooLongError();
  const plain = (): string => sign + plainDigits(digits, scale);
  const pointed = text.includes(".") && !text.includes("e") && !text.includes("E");
  if (!pointed && isWhole(digits, scale)) {
    const long = BigInt(plain().split(".", 1)[0] as string);
    return long >= SMALLEST && long <= LARGEST ? long : plain();
  }
  return scale <= FRACTION ? Number(text) : plain();
}

/** Of a short text: digits alone, digits with a point in between, or anything else. */
function plainKind(text: string): "whole" | "pointed" | "other" {
  let points = 0;
  const first = text.charCodeAt(0) === MINUS ? 1 : 0;
  for (let at = first; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === POINT && at > first && at < text.length - 1) points++;
    else if (sign < ZERO || sign > NINE) return "other";
  }
  if (points > 1 || text.length === first) return "other";
  return points === 1 ? "pointed" : "whole";
}

function isWhole(digits: string, scale: number): boolean {
  let zeros = 0;
  while (zeros < scale && digits[digits.length - 1 - zeros] === "0") zeros++;
  return digits === "0" || zeros >= scale;
}

function plainDigits(digits: string, scale: number): string {
  if (scale <= 0) return digits === "0" ? "0" : digits + "0".repeat(-scale);
  const padded = digits.padStart(scale + 1, "0");
  return `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
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
  return JSON.stringify(value);
}

/** As the platform answers it where every value is text (time series without strict types). */
export function valueText(value: Value): string {
  return typeof value === "string" ? value : valueJson(value);
}

/** Bytes a value takes in memory, about. */
export function valueSize(value: Value): number {
  if (typeof value === "string") return value.length * 2;
  return value instanceof JsonText ? value.text.length * 2 : 16;
}

/** Whether both are the same value of the same type. */
export function sameValue(one: Value | undefined, other: Value): boolean {
  if (one instanceof JsonText && other instanceof JsonText) return one.text === other.text;
  return Object.is(one, other);
}

const LONGEST_KEY = 255;
const MARKUP = /<[a-zA-Z!/?]|\{\{.*\}\}/s;

/** Whether the platform keeps a value under that key. If not, the whole element it came in is lost, unreported. */
export function isStorableKey(key: string): boolean {
  if (key.trim() === "" || key.length > LONGEST_KEY) return false;
  const mayBeMarkup = key.includes("<") || key.includes("{");
  return !mayBeMarkup || !MARKUP.test(key);
}
