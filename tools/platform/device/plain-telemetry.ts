// The telemetry that nearly all devices send, read by the engine's own JSON parser in half the time of the platform's lenient one. Whatever that parser would read
// in another way is left to it.
import type { Values } from "../core/platform.js";
import { typedDouble, typedTwice, type Value } from "../core/values.js";

/** Of one element; without `ts` it has the platform's time. */
export interface Element {
  readonly ts: number | undefined;
  readonly values: Values;
}

/** In numbers that must be judged by their spelling: an exponent below zero or beyond 99, a fraction of zeros, and one of too many digits. */
const BY_SPELLING = /[eE](?:-|\+?\d{3})|\.0+(?!\d)|\.\d{17}/;

/** The elements of a body; undefined if it has to be read by `parseJson`, which also says what is wrong with it. */
export function plainElements(text: string): Element[] | undefined {
  if (BY_SPELLING.test(text)) return undefined;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const elements: Element[] = [];
  for (const item of Array.isArray(json) ? json : [json]) {
    const element = elementOf(item);
    if (!element) return undefined;
    elements.push(element);
  }
  return elements;
}

function elementOf(item: unknown): Element | undefined {
  if (!isObject(item)) return undefined;
  const isTimed = Object.hasOwn(item, "ts") && Object.hasOwn(item, "values");
  const { ts, values } = item;
  if (isTimed && !(Number.isSafeInteger(ts) && isObject(values))) return undefined;
  const found = valuesOf(isTimed ? (values as Record<string, unknown>) : item);
  // Without the sign of zero.
  return found && { ts: isTimed ? (ts as number) + 0 : undefined, values: found };
}

function valuesOf(object: Record<string, unknown>): Values | undefined {
  const values: [string, Value][] = [];
  for (const key of Object.keys(object)) {
    const member = object[key];
    if (isIndex(key)) return undefined;
    if (typeof member === "number") {
      const value = numeric(member);
      if (value === undefined) return undefined;
      values.push([key, value]);
    } else if (typeof member === "string" || typeof member === "boolean")
      values.push([key, typedTwice(member) as Value]);
    else if (member !== null) return undefined;
  }
  return values;
}

/** Undefined: it may have lost digits. */
function numeric(number: number): Value | undefined {
  if (Number.isSafeInteger(number)) return BigInt(number);
  return Number.isInteger(number) || !Number.isFinite(number) ? undefined : typedDouble(number);
}

/** An object puts such keys first. */
function isIndex(key: string): boolean {
  const code = key.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
