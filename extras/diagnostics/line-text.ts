// Makes text safe to store: no control characters, limited length.
import type { Host } from "../../src/port.js";
import { LONGEST } from "./ring.js";

/** Escapes everything that a terminal could interpret, so that the text stays in one line. */
export const escaped = (line: string): string => {
  if (!hasControl(line)) return line;
  let text = "";
  for (const char of line) text += isControl(char.codePointAt(0)!) ? written(char.codePointAt(0)!) : char;
  return text;
};

/**
 * Most lines need no escapes and are used as they are, because building text character by character
 * creates garbage.
 */
const hasControl = (line: string): boolean => {
  for (const char of line) if (isControl(char.codePointAt(0)!)) return true;
  return false;
};

/** C0 and C1 controls, and characters that change direction or end a line. */
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

/** The text as UTF-8, truncated between two characters to the maximum length. */
export const fitting = (host: Pick<Host, "encode">, text: string): Uint8Array => {
  const bytes = host.encode(text);
  if (bytes.length <= LONGEST) return bytes;
  let end = LONGEST;
  // Bytes within a character.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.subarray(0, end);
};
