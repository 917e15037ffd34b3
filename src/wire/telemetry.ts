// POST {token}/telemetry. With the device's time stamps (milliseconds since 1970, UTC):
//
//   {"ts":1700000000000,"values":{"temperature":21.5}}
//   [{"ts":1700000000000,"values":{"temperature":21.5}},
//    {"ts":1700000001000,"values":{"temperature":21.6}}]
//
// and with the platform's, which gives all points of a request the same one:
//
//   {"temperature":21.5}
//
// One point is sent as an object, several as an array. The platform never answers an empty array.

import type { Redactor } from "../port.js";
import { Shapes } from "./shapes.js";
import { ascii } from "./text/characters.js";
import type { Encoded } from "./text/encode.js";
import type { Timestamp } from "./timestamp.js";
import { encodeValues, VALUES_LIMIT } from "./values.js";

/** Text before each point except the first. */
const BEFORE = ascii(',{"ts":0000000000000,"values":');
export const BEFORE_BYTES = BEFORE.length;
/** Start and end of its digits. */
const DIGITS = 7;
const DIGITS_END = 20;
/** A time stamp is written in two halves, because 32-bit divisions are five times faster. */
const LOW_DIGITS = 6;
const LOW = 1_000_000;

/** Bytes that a device time stamp adds to a point: `{"ts":`, 13 digits, `,"values":` and `}`. */
export const TIMED_BYTES = 30;
/** Bytes per point for brackets and commas of an array. */
const LISTED_BYTES = 2;
/** Maximum bytes of a request in addition to the text of a point. */
export const FRAME_BYTES = TIMED_BYTES + LISTED_BYTES;

const ZERO = 0x30;

/**
 * Encodes the values of one point. In addition to `encodeValues`, rejects the keys `ts` and
 * `values` in one point, which the platform would read as a time stamp. Applies to both kinds of
 * time stamps, because a stored point may be sent with either.
 */
export const encodePoint = (values: unknown, limit = VALUES_LIMIT): Encoded => {
  const encoded = encodeValues(values, limit);
  if (!encoded.ok) return encoded;
  if (Object.hasOwn(values as object, "ts") && Object.hasOwn(values as object, "values")) {
    return {
      ok: false,
      reason:
        'the keys "ts" and "values" cannot be used in one point: the platform reads them as a time stamp',
      tooLarge: false,
    };
  }
  return encoded;
};

/** True if a value is or may contain a string. */
const hasText = (text: string): boolean => text.includes(':"') || text.includes("[");

/** `encodePoint` for many points: those with the keys of an earlier one are written faster. */
export class PointEncoder {
  private readonly _shapes = new Shapes();
  private readonly _redactor: Redactor;

  constructor(redactor: Redactor) {
    this._redactor = redactor;
  }

  encode(values: unknown, limit: number): Encoded {
    const text = typeof values === "object" && values ? this._shapes.encode(values, limit) : undefined;
    // Keys were checked when learned, and numbers are not secrets.
    if (text !== undefined)
      return { ok: true, text: hasText(text) ? this._redactor.cleanJson(text, true) : text };
    const encoded = encodePoint(values, limit);
    if (!encoded.ok) return encoded;
    const clean = this._redactor.cleanJson(encoded.text);
    if (clean === encoded.text && !encoded.leftOut) this._shapes.learn(values as object);
    return { ...encoded, text: clean };
  }
}

/**
 * The text before each point with a time stamp, `,{"ts":1700000000000,"values":`. It lies in the
 * buffer that it is copied within, because that is a single native move; from one point to the next
 * only few digits change.
 */
export class PointFrame {
  private readonly _bytes: Uint8Array;
  private readonly _at: number;
  /** High and low half of its time stamp. */
  private _base = -LOW;
  private _low = 0;

  /** Uses `BEFORE_BYTES` bytes from `at` on. */
  constructor(bytes: Uint8Array, at: number) {
    bytes.set(BEFORE, at);
    this._bytes = bytes;
    this._at = at;
  }

  /** Writes it to `to`; returns its end. */
  put(to: number, ts: Timestamp): number {
    const bytes = this._bytes;
    const at = this._at;
    if (ts < this._base || ts >= this._base + LOW) this._rebase(ts);
    let low = (ts - this._base) | 0;
    let old = this._low;
    this._low = low;
    for (let digit = at + DIGITS_END - 1; low !== old; digit--) {
      bytes[digit] = ZERO + (low % 10);
      low = (low / 10) | 0;
      old = (old / 10) | 0;
    }
    bytes.copyWithin(to, at, at + BEFORE_BYTES);
    return to + BEFORE_BYTES;
  }

  private _rebase(ts: number): void {
    let high = Math.floor(ts / LOW);
    this._base = high * LOW;
    for (let digit = DIGITS_END - LOW_DIGITS - 1; digit >= DIGITS; digit--) {
      this._bytes[this._at + digit] = ZERO + (high % 10);
      high = (high / 10) | 0;
    }
  }
}
