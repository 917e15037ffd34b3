// Text as the wire needs it. On XS a string counts code points and every index or `length` walks it from the start;
// on Node it counts UTF-16 units. `for...of` gives code points on both, in linear time.

const REPLACEMENT = "\ufffd";
const isHigh = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
const isLow = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** The JSON text of a string. Halves of surrogate pairs standing alone become U+FFFD, so that its UTF-8 is always valid. */
export const quote = (text: string): string => {
  const quoted = JSON.stringify(text);
  // JSON.stringify escapes a lone half, and nothing else that begins so but a backslash followed by "ud".
  return quoted.includes("\\ud") ? JSON.stringify(mend(text)) : quoted;
};

/** The text with U+FFFD for each half of a surrogate pair that stands alone. */
export const mend = (text: string): string => {
  let mended = "";
  let high = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    if (high !== 0 && isLow(code)) {
      // XS keeps two halves that were put together as two.
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

/** A name for an error text: quoted, 40 UTF-16 units at most on every engine, no character cut in two, no control characters. */
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

/** Bytes that the text takes as UTF-8. */
export const utf8Length = (text: string): number => {
  let length = 0;
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return length;
};

/** True if the text takes `limit` bytes of UTF-8 at most. */
export const fits = (text: string, limit: number): boolean => {
  const length = text.length;
  if (length > limit) return false;
  return length * 4 <= limit || utf8Length(text) <= limit;
};

/** Bytes of the sequence that `first` begins; 0 if none may begin so. */
const sequenceLength = (first: number): number => {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
};

/** The code point of the sequence of `length` bytes at `at`, or -1 if it is cut or none. */
const codeAt = (bytes: Uint8Array, at: number, length: number): number => {
  const first = bytes[at] as number;
  if (length < 2) return length === 1 ? first : -1;
  let code = first & (0x7f >> length);
  for (let i = 1; i < length; i++) {
    // Past the end there is nothing, which is no continuation either.
    const next = bytes[at + i] as number;
    if ((next & 0xc0) !== 0x80) return -1;
    code = (code << 6) | (next & 0x3f);
  }
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  return code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? -1 : code;
};

/**
 * The beginning of a body that the host could not decode, or that was cut: `limit` bytes at most, U+FFFD for each byte that
 * is no UTF-8. Enough to find what it was about; never to act on.
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
