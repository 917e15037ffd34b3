// The response head, parsed from its text. Content-Type is ignored: the platform labels text as
// JSON and sends JSON without a label.
//
// Lenient: a bare LF ends a line, a status line may end after its number, a folded line continues
// the header before it, and a header that comes again adds to its list. Strict: anything ambiguous
// about the end of the body is a problem: two lengths, length with chunks, other codings, a blank
// before a colon.
import { DIGITS, isMadeOf, isSameName } from "../wire/text/characters.js";
import { parseDate } from "./date.js";

/** The headers that matter; the last three only for files. All others are skipped. */
const NAMES = [
  "Date",
  "Location",
  "Connection",
  "Retry-After",
  "Content-Length",
  "Transfer-Encoding",
  "ETag",
  "Content-Range",
  "Content-Encoding",
] as const;
type Name = (typeof NAMES)[number];
/** Values by name; those of equal headers are joined with a comma. */
export type Fields = { [N in Name]?: string };

/** Each name has another length or first letter. Most other headers differ in them from all. */
const keyOf = (name: string): number => name.length * 32 + (name.charCodeAt(0) & 31);
const BY_KEY: { readonly [key: number]: Name } = Object.fromEntries(NAMES.map((name) => [keyOf(name), name]));
const MAX_DIGITS = 15;
const ENDS = " \t\r\n";
/**
 * Each line takes memory of its own: one of three bytes takes a board 32. Servers have a few dozen.
 */
const MAX_LINES = 128;
/** Limit of Retry-After. */
const MAX_WAIT_MS = 3_600_000;

/** What a head says. */
export interface Head {
  readonly status: number;
  /** Length of the body: undefined if it ends with its last chunk or with the connection. */
  readonly length: number | undefined;
  readonly chunked: boolean;
  /** The connection can be reused after the body. */
  readonly keeps: boolean;
  /** Value of the Date header, in ms since 1970. */
  readonly date: number | undefined;
  readonly fields: Fields;
}

/** Parses a head without its last, empty line. Returns the problem as a string. */
export const parseHead = (text: string): Head | string => {
  const lines = text.split("\n", MAX_LINES + 1);
  if (lines.length > MAX_LINES) return "too many headers";
  const line = lines[0] as string;
  const version = line.slice(0, 9);
  const isOld = !isSameName(version, "HTTP/1.1 ");
  if (isOld && !isSameName(version, "HTTP/1.0 ")) return "not HTTP/1";
  const digits = line.slice(9, 12);
  const status = Number(digits);
  const after = line.charAt(12);
  const isStatus = status > 99 && status < 600 && String(status) === digits;
  if (!isStatus || (after !== "" && after !== " " && after !== "\r")) return "bad status";
  if (status === 101) return "protocol switched";
  const fields = parseFields(lines);
  if (typeof fields === "string") return fields;
  const coding = fields["Transfer-Encoding"];
  const list = fields["Content-Length"];
  const length = list === undefined ? undefined : parseLength(list);
  if (typeof length === "string") return length;
  const chunked = coding !== undefined;
  if (chunked && !isSameName(coding, "chunked")) return "unknown Transfer-Encoding";
  if (chunked && length !== undefined) return "both length and chunks";
  if (chunked && isOld) return "chunks in HTTP/1.0";
  const date = parseDate(fields.Date);
  // After these, some servers send a body all the same, which would be read as the next answer.
  const isEmpty = status < 200 || status === 204 || status === 304;
  if (isEmpty) return { status, length: 0, chunked: false, keeps: false, date, fields };
  const { Connection: options } = fields;
  const keeps = (chunked || length !== undefined) && (options ? isKept(options, isOld) : !isOld);
  return { status, length, chunked, keeps, date, fields };
};

const parseFields = (lines: readonly string[]): Fields | string => {
  const fields: Fields = {};
  let known: Name | undefined;
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] as string;
    const colon = line.indexOf(":");
    const name = colon < 0 ? "" : line.slice(0, colon);
    // A blank before the colon can disguise one header as another.
    if (name !== "" && name === name.trim()) {
      known = BY_KEY[keyOf(name)];
      if (!known || !isSameName(name, known)) {
        known = undefined;
        continue;
      }
      const value = withoutEnds(line.slice(colon + 1));
      fields[known] = fields[known] === undefined ? value : `${fields[known]},${value}`;
    } else if (line.charAt(0) !== " " && line.charAt(0) !== "\t") return "bad header";
    else if (i === 1) return "folded header";
    else if (known) fields[known] = withoutEnds(`${fields[known]} ${withoutEnds(line)}`);
  }
  return fields;
};

/** Without blanks and line ends around it. `trim` removes other characters, too. */
export const withoutEnds = (text: string): string => {
  let from = 0;
  let to = text.length;
  while (from < to && ENDS.includes(text.charAt(from))) from++;
  while (from < to && ENDS.includes(text.charAt(to - 1))) to--;
  return text.slice(from, to);
};

/** A proxy may join equal lengths to a list. */
const parseLength = (list: string): number | string => {
  let length = decimal(list);
  if (length >= 0) return length;
  for (const item of list.split(",")) {
    const one = decimal(withoutEnds(item));
    if (one < 0) return "bad Content-Length";
    if (length >= 0 && one !== length) return "two lengths";
    length = one;
  }
  return length;
};

/** "close" takes precedence over "keep-alive". */
const isKept = (list: string, isOld: boolean): boolean => {
  const has = (option: string) => list.split(",").some((item) => isSameName(item.trim(), option));
  return !has("close") && (!isOld || has("keep-alive"));
};

/** Retry-After in ms, at most 1 h. A date in it counts from the answer's own Date. */
export const retryAfterMs = ({ fields, date }: Head): number | undefined => {
  const text = fields["Retry-After"];
  if (text === undefined) return undefined;
  const seconds = decimal(text);
  const then = parseDate(text);
  const ms = seconds >= 0 ? seconds * 1000 : then && date && then - date;
  return ms === undefined ? undefined : Math.min(Math.max(0, ms), MAX_WAIT_MS);
};

/** The decimal number; -1 if the text is not one or has more than 15 digits. */
export const decimal = (text: string): number => (isMadeOf(text, DIGITS, MAX_DIGITS) ? Number(text) : -1);
