// POST {token}/telemetry. With the device's time stamps (milliseconds since 1970, UTC):
//
//   {"ts":1700000000000,"values":{"temperature":21.5}}
//   [{"ts":1700000000000,"values":{"temperature":21.5}},{"ts":1700000001000,"values":{"temperature":21.6}}]
//
// and with the platform's, which gives all points of a batch the same one:
//
//   {"temperature":21.5}
//   [{"temperature":21.5},{"humidity":40}]
//
// One point leaves as an object, more as an array. An empty array is never answered by the platform: no batch is empty.
import type { Encoded } from "./encode.js";
import { Shapes } from "./shapes.js";
import { encodeValues, VALUES_LIMIT } from "./values.js";

const TS_FIRST = 1_000_000_000_000;
const TS_END = 10_000_000_000_000;
/** `{"ts":0000000000000,"values":`, and where its digits end. */
const BEFORE = ascii('{"ts":0000000000000,"values":');
const DIGITS_END = 19;
const LOW_DIGITS = 6;
const LOW = 1_000_000;

/** Bytes that a time stamp of the device adds to a point: `{"ts":`, 13 digits, `,"values":` and `}`. */
export const TIMED_BYTES = 30;
/** Bytes that more than one point take beside themselves, each: brackets around, a comma between. */
export const LISTED_BYTES = 2;
/** Bytes that a request has at most beside the text of a point. */
export const FRAME_BYTES = TIMED_BYTES + LISTED_BYTES;

const BRACKET = 0x5b;
const BRACKET_END = 0x5d;
const BRACE_END = 0x7d;
const COMMA = 0x2c;

/**
 * Values of one point as text. Beyond what `encodeValues` refuses: keys `ts` and `values` in one point, which the platform would read as a time
 * stamp and lose the rest. Refused with both kinds of time stamps, since a stored point may be sent under either.
 */
export function encodePoint(values: unknown, limit = VALUES_LIMIT): Encoded {
  const encoded = encodeValues(values, limit);
  if (!encoded.ok) return encoded;
  if (Object.hasOwn(values as object, "ts") && Object.hasOwn(values as object, "values")) {
    return {
      ok: false,
      reason: 'the keys "ts" and "values" in one point are read as a time stamp',
      tooLarge: false,
    };
  }
  return encoded;
}

/** `encodePoint` for one point after the other: those with the keys of one before are written the quick way. */
export class PointEncoder {
  readonly #shapes = new Shapes();

  encode(values: unknown, limit: number): Encoded {
    const text = typeof values === "object" && values ? this.#shapes.write(values, limit) : undefined;
    if (text !== undefined) return { ok: true, text };
    const encoded = encodePoint(values, limit);
    if (encoded.ok) this.#shapes.learn(values as object);
    return encoded;
  }
}

/** Says why a time stamp cannot be used, or undefined if it can: whole milliseconds of 13 digits (2001 to 2286), which catches seconds. */
export function checkTs(ts: unknown): string | undefined {
  if (typeof ts === "number" && Number.isInteger(ts) && ts >= TS_FIRST && ts < TS_END) return undefined;
  return "ts must be a whole number of milliseconds since 1970, of 13 digits";
}

/** Writes what stands before the text of point `index` of `points`; `ts` undefined for the platform's time. Returns where the text goes. */
export function writeBefore(
  into: Uint8Array,
  at: number,
  index: number,
  points: number,
  ts: number | undefined,
): number {
  let to = at;
  if (points > 1) into[to++] = index === 0 ? BRACKET : COMMA;
  if (ts === undefined) return to;
  into.set(BEFORE, to);
  let high = Math.floor(ts / LOW);
  let low = ts - high * LOW;
  const end = to + DIGITS_END;
  const middle = end - LOW_DIGITS;
  // In two halves: whole numbers of 32 bits are divided at a fifth of the cost.
  for (let i = end - 1; i >= middle; i--) {
    into[i] = 0x30 + (low % 10);
    low = (low / 10) | 0;
  }
  for (let i = middle - 1; high > 0; i--) {
    into[i] = 0x30 + (high % 10);
    high = (high / 10) | 0;
  }
  return to + BEFORE.length;
}

/** Writes what stands after the text of point `index` of `points`. Returns where the next point goes, or the end. */
export function writeAfter(
  into: Uint8Array,
  at: number,
  index: number,
  points: number,
  timed: boolean,
): number {
  let to = at;
  if (timed) into[to++] = BRACE_END;
  if (points > 1 && index === points - 1) into[to++] = BRACKET_END;
  return to;
}

function ascii(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}
