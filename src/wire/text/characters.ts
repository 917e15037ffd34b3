// Character checks without regular expressions and case tables, whose code would grow a board's
// image.

/** True if the character is in `ranges`, pairs of first and last characters: "09af". */
const isIn = (code: number, ranges: string): boolean => {
  for (let i = 0; i < ranges.length; i += 2)
    if (code >= ranges.charCodeAt(i) && code <= ranges.charCodeAt(i + 1)) return true;
  return false;
};

/** Number of leading characters in `ranges`. */
export const spanOf = (text: string, ranges: string): number => {
  let at = 0;
  while (at < text.length && isIn(text.charCodeAt(at), ranges)) at++;
  return at;
};

/** True if all characters are in `ranges`, with at least one and at most `most`. */
export const isMadeOf = (text: string, ranges: string, most = text.length): boolean =>
  text !== "" && text.length <= most && spanOf(text, ranges) === text.length;

export const HEX = "09afAF";

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

/** Converts ASCII letters only. */
export const lowerCase = (text: string): string => shifted(text, 65, 32);
export const upperCase = (text: string): string => shifted(text, 97, -32);

/** Removes blanks and line ends. */
export const withoutBlanks = (text: string): string => {
  let bare = text;
  for (const blank of " \n\r\t\f\v\u00a0") bare = bare.replaceAll(blank, "");
  return bare;
};
