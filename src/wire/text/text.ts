// Strings on the wire. On XS, strings count code points, and every index or `length` walks from the
// start; on Node they count UTF-16 units. `for...of` iterates code points on both, in linear time.

const REPLACEMENT = "\ufffd";
const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The JSON text of a string. Lone surrogate halves become U+FFFD, so that the UTF-8 is valid. */
export const quote = (text: string): string => {
  const quoted = JSON.stringify(text);
  // JSON.stringify escapes a lone half as \ud...; only an escaped backslash before "ud" looks
  // alike.
  return quoted.includes("\\ud") ? JSON.stringify(mend(text)) : quoted;
};

/** Replaces each lone surrogate half with U+FFFD. */
export const mend = (text: string): string => {
  let mended = "";
  let high = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (high !== 0 && isLow(code)) {
      // XS does not join two halves into one character.
      mended += String.fromCodePoint(0x10000 + ((high - 0xd800) << 10) + code - 0xdc00);
      high = 0;
      continue;
    }
    if (high !== 0) mended += REPLACEMENT;
    high = isHigh(code) ? code : 0;
    if (high === 0) mended += isLow(code) ? REPLACEMENT : char;
  }
  return high === 0 ? mended : mended + REPLACEMENT;
};

/**
 * Quotes a name for an error message: at most 40 UTF-16 units, no split characters, no control
 * characters.
 */
export const quoteShortened = (text: string): string => {
  let shortened = "";
  let units = 0;
  for (const char of text) {
    units += (char.codePointAt(0) as number) > 0xffff ? 2 : 1;
    if (units > 40) return quote(`${shortened}...`);
    if (units <= 37) shortened += char;
  }
  return quote(text);
};

/** Length of the text as UTF-8, in bytes. */
export const utf8Length = (text: string): number => {
  let length = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
};

/** True if the text takes at most `limit` bytes as UTF-8. */
export const fits = (text: string, limit: number): boolean => {
  const length = text.length;
  if (length > limit) return false;
  return length * 4 <= limit || utf8Length(text) <= limit;
};

/** Length of the sequence that begins with `first`; 0 if invalid. */
const sequenceLength = (first: number): number => {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
};

/** Code point of the sequence of `length` bytes at `at`; -1 if incomplete or invalid. */
const codeAt = (bytes: Uint8Array, at: number, length: number): number => {
  const first = bytes[at] as number;
  if (length < 2) return length === 1 ? first : -1;
  let code = first & (0x7f >> length);
  for (let i = 1; i < length; i++) {
    // Reading past the end gives undefined, which is not a continuation byte.
    const next = bytes[at + i] as number;
    if ((next & 0xc0) !== 0x80) return -1;
    code = (code << 6) | (next & 0x3f);
  }
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  return code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? -1 : code;
};

/**
 * Decodes the beginning of an invalid or truncated body: at most `limit` bytes, with U+FFFD for
 * each invalid byte. Use it only to identify the message, never to act on it.
 */
export const decodeStart = (bytes: Uint8Array, limit = 1024): string => {
  const end = Math.min(limit, bytes.length);
  let text = "";
  let at = 0;
  while (at < end) {
    const length = sequenceLength(bytes[at] as number);
    const code = codeAt(bytes, at, length);
    text += code < 0 ? REPLACEMENT : String.fromCodePoint(code);
    at += code < 0 ? 1 : length;
  }
  return text;
};
