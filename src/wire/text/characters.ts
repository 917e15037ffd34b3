// Character checks without regular expressions and case tables, whose code would grow a board's
// image.

/** A set of ASCII characters: 1 at the code of each. */
export type Characters = Uint8Array;

/** The bit that small and capital letters differ in. */
const CASE = 0x20;
const LETTER_A = 0x61;
const LETTER_Z = 0x7a;

/** The characters of `ranges`, pairs of first and last characters: "09af". */
export const characters = (ranges: string): Characters => {
  const set = new Uint8Array(128);
  for (let i = 0; i < ranges.length; i += 2) set.fill(1, ranges.charCodeAt(i), ranges.charCodeAt(i + 1) + 1);
  return set;
};

/** The codes of ASCII text. On XS, reading characters of strings is slow. */
export const ascii = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

/** Number of leading characters in the set. */
export const spanOf = (text: string, set: Characters): number => {
  const { length } = text;
  let at = 0;
  while (at < length && set[text.charCodeAt(at)] === 1) at++;
  return at;
};

/** True if all characters are in the set, with at least one and at most `most`. */
export const isMadeOf = (text: string, set: Characters, most = text.length): boolean =>
  text !== "" && text.length <= most && spanOf(text, set) === text.length;

export const DIGITS = characters("09");
export const HEX = characters("09afAF");
export const LOWER_HEX = characters("09af");
/** Printable ASCII without the blank. */
export const VISIBLE = characters("!~");

/** True if there is a control character: below a blank, or DEL. */
export const hasControl = (text: string): boolean => {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
};

const shifted = (text: string, first: number, by: number): string => {
  let all = "";
  for (const char of text) {
    const code = char.charCodeAt(0);
    all += code >= first && code < first + 26 ? String.fromCharCode(code + by) : char;
  }
  return all;
};

/** True if the texts are equal, ignoring the case of ASCII letters. */
export const isSameName = (one: string, other: string): boolean => {
  if (one === other) return true;
  for (let at = 0; at < one.length; at++) {
    const code = one.charCodeAt(at);
    const wanted = other.charCodeAt(at);
    if (code === wanted) continue;
    const letter = code | CASE;
    if (letter !== (wanted | CASE) || letter < LETTER_A || letter > LETTER_Z) return false;
  }
  return one.length === other.length;
};

/** Converts ASCII letters only. */
export const lowerCase = (text: string): string => shifted(text, 65, 32);
export const upperCase = (text: string): string => shifted(text, 97, -32);

/** Removes blanks and line ends. */
export const withoutBlanks = (text: string): string => {
  let bare = text;
  for (const blank of " \n\r\t\f\v\u00a0") bare = bare.replaceAll(blank, "");
  return bare;
};
