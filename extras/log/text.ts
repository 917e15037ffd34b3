// A line's text as it may be kept: nothing in it moves a cursor, and it is not too long.
import type { Host } from "../../src/port.js";
import { LONGEST } from "./ring.js";

/** In one line: what a terminal would take for a command is written out. */
export const escaped = (line: string): string => {
  if (!hasControl(line)) return line;
  let text = "";
  for (const char of line) text += isControl(char.codePointAt(0)!) ? written(char.codePointAt(0)!) : char;
  return text;
};

/** Most lines have none, and are taken as they are: a text that grows letter by letter is a lot of garbage. */
const hasControl = (line: string): boolean => {
  for (const char of line) if (isControl(char.codePointAt(0)!)) return true;
  return false;
};

/** C0 and C1, and what changes the direction or ends a line. */
const isControl = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code < 0xa0) ||
  code === 0x061c ||
  (code >= 0x200e && code <= 0x200f) ||
  (code >= 0x2028 && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

const written = (code: number): string => {
  if (code === 0x0a) return "\\n";
  const digits = code.toString(16);
  return code < 0x100 ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
};

/** UTF-8 that is no longer than a line may be: cut between two letters. */
export const fitting = (host: Pick<Host, "encode">, text: string): Uint8Array => {
  const bytes = host.encode(text);
  if (bytes.length <= LONGEST) return bytes;
  let end = LONGEST;
  // Bytes within a letter.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
};
