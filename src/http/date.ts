// Parses the date format of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
import { decimal, isText, word } from "./bytes.js";

export const DATE_BYTES = 29;
const GMT = word(" gmt");
const NAMES = word("janfebmaraprmayjunjulaugsepoctnovdec");

/** Three letters as one number, ignoring case. */
const lettersAt = (bytes: Uint8Array, at: number): number => {
  const letters =
    ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  return letters | 0x202020;
};

const MONTHS = Array.from({ length: 12 }, (_, month) => lettersAt(NAMES, month * 3));
const COMMA = 0x2c;
const SPACE = 0x20;
const COLON = 0x3a;

/** ms since 1970; undefined for an invalid date. The weekday is not checked. */
export const parseDate = (bytes: Uint8Array, from: number, to: number): number | undefined => {
  if (to - from !== DATE_BYTES || !hasShape(bytes, from)) return undefined;
  const month = MONTHS.indexOf(lettersAt(bytes, from + 8));
  const day = decimal(bytes, from + 5, from + 7);
  const year = decimal(bytes, from + 12, from + 16);
  const hour = decimal(bytes, from + 17, from + 19);
  const minute = decimal(bytes, from + 20, from + 22);
  const second = decimal(bytes, from + 23, from + 25);
  if (month < 0 || day < 1 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59)
    return undefined;
  // 60 is a leap second.
  if (second < 0 || second > 60) return undefined;
  const midnight = Date.UTC(year, month, day);
  if (day > 28 && new Date(midnight).getUTCDate() !== day) return undefined;
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
};

/**
 * Like `parseDate` for strings, ten times faster on boards. Undefined unless formatted as by the
 * engine.
 */
export const parseUsualDate = (text: string): number | undefined => {
  const ms = Date.parse(text);
  return ms >= 0 && new Date(ms).toUTCString() === text ? ms : undefined;
};

/** True if the separators between names and numbers are right. */
const hasShape = (bytes: Uint8Array, from: number): boolean => {
  return (
    (bytes[from] as number) > SPACE &&
    (bytes[from + 1] as number) > SPACE &&
    (bytes[from + 2] as number) > SPACE &&
    bytes[from + 3] === COMMA &&
    bytes[from + 4] === SPACE &&
    bytes[from + 7] === SPACE &&
    bytes[from + 11] === SPACE &&
    bytes[from + 16] === SPACE &&
    bytes[from + 19] === COLON &&
    bytes[from + 22] === COLON &&
    isText(bytes, from + 25, from + DATE_BYTES, GMT)
  );
};
