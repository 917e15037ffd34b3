// What texts are made of, character by character. The engine has regular expressions and the cases of all letters, which bring their code and
// tables into a board's image as soon as one is used.

/** True if the character lies in `ranges`, each a first and a last one: "09af". */
const isIn = (code: number, ranges: string): boolean => {
  for (let i = 0; i < ranges.length; i += 2)
    if (code >= ranges.charCodeAt(i) && code <= ranges.charCodeAt(i + 1)) return true;
  return false;
};

/** How many characters lie in `ranges` before the first one that does not. */
export const spanOf = (text: string, ranges: string): number => {
  let at = 0;
  while (at < text.length && isIn(text.charCodeAt(at), ranges)) at++;
  return at;
};

/** True if all lie in `ranges`: one character at least, `most` at most. */
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

/** Of ASCII letters; others stay as they are. */
export const lowerCase = (text: string): string => shifted(text, 65, 32);
export const upperCase = (text: string): string => shifted(text, 97, -32);

/** Without any blank or line end. */
export const withoutBlanks = (text: string): string => {
  let bare = text;
  for (const blank of " \n\r\t\f\v\u00a0") bare = bare.replaceAll(blank, "");
  return bare;
};
