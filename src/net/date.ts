// The one form of date that HTTP servers send today: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, IMF-fixdate).
import { decimal, isText } from "./bytes.js";

const LENGTH = 29;
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
/** What is no letter or digit, and where. */
const PUNCTUATION = [
  [3, ","],
  [4, " "],
  [7, " "],
  [11, " "],
  [16, " "],
  [19, ":"],
  [22, ":"],
  [25, " "],
] as const;

/** ms since 1970, or undefined if the range holds no such date, or a day that the month has not. The name of the weekday is not looked at. */
export function parseDate(bytes: Uint8Array, from: number, to: number): number | undefined {
  if (to - from !== LENGTH || !isText(bytes, from + 26, to, "gmt")) return undefined;
  for (const [at, mark] of PUNCTUATION) if (bytes[from + at] !== mark.charCodeAt(0)) return undefined;
  const month = MONTHS.findIndex((name) => isText(bytes, from + 8, from + 11, name));
  const day = decimal(bytes, from + 5, from + 7);
  const year = decimal(bytes, from + 12, from + 16);
  const hour = decimal(bytes, from + 17, from + 19);
  const minute = decimal(bytes, from + 20, from + 22);
  const second = decimal(bytes, from + 23, from + 25);
  if (month < 0 || day < 1 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59)
    return undefined;
  // 60: a leap second.
  if (second < 0 || second > 60) return undefined;
  const midnight = Date.UTC(year, month, day);
  if (new Date(midnight).getUTCDate() !== day) return undefined;
  return midnight + ((hour * 60 + minute) * 60 + second) * 1000;
}
