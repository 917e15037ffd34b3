// Parses the date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
import { textOf } from "./bytes.js";

export const DATE_BYTES = 29;

/** ms since 1970; undefined for an invalid date, and for a leap second. */
export const parseDate = (bytes: Uint8Array, from: number, to: number): number | undefined => {
  return to - from === DATE_BYTES ? parseDateText(textOf(bytes, from, to)) : undefined;
};

/** The engine parses other formats too, so only what it would write itself is valid. */
export const parseDateText = (text: string): number | undefined => {
  const ms = Date.parse(text);
  return ms >= 0 && new Date(ms).toUTCString() === text ? ms : undefined;
};
