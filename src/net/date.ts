// The one form of date that HTTP servers send today: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
import { decimal, isText } from "./bytes.js";

/** A dot stands for anything; what it is comes after. */
const SHAPE = "..., .. ... .... ..:..:.. gmt";
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DOT = 0x2e;

/** ms since 1970, or undefined if the range holds no such date, or a day that the month has not. The name of the weekday is not looked at. */
export function parseDate(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (!hasShape(bytes, from, to)) return undefined;
  let month = 0;
  while (month < 12 && !isText(bytes, from + 8, from + 11, MONTHS[month] as string)) month++;
  const day = decimal(bytes, from + 5, from + 7);
  const year = decimal(bytes, from + 12, from + 16);
  const hour = decimal(bytes, from + 17, from + 19);
  const minute = decimal(bytes, from + 20, from + 22);
  const second = decimal(bytes, from + 23, from + 25);
  if (month === 12 || day < 1 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59)
    return undefined;
  // 60: a leap second.
  if (second < 0 || second > 60) return undefined;
  const midnight = Date.UTC(year, month, day);
  if (new Date(midnight).getUTCDate() !== day) return undefined;
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
}

function hasShape(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== SHAPE.length) return false;
  for (let i = 0; i < SHAPE.length; i++) {
    const mark = SHAPE.charCodeAt(i);
    if (mark === DOT) continue;
    const byte = bytes[from + i] as number;
    // The letters of GMT come in either case.
    if (byte !== mark && (i < 26 || (byte | 0x20) !== mark)) return false;
  }
  return true;
}
