// Names of telemetry keys and attributes.
import { characters, hasControl, isMadeOf } from "./text/characters.js";
import { mend, quoteShortened } from "./text/text.js";

/** Maximum length in UTF-16 units, as counted by the platform. */
const MAX_LENGTH = 255;
const PLAIN = characters("azAZ09__-.");

/**
 * True for most keys: valid, and quoted without escapes. Skips the other checks, which take five
 * times as long.
 */
export const isPlainKey = (key: string): boolean => isMadeOf(key, PLAIN, 100);

/**
 * Returns why a key is invalid; undefined if it is valid. Valid keys have 1 to 255 characters, are
 * not blank, and contain no comma (unreadable), markup (`<`, `>`, `{{`), control character or half
 * of a surrogate pair.
 */
export const checkKey = (key: string): string | undefined => {
  const problem = keyProblem(key);
  return problem === undefined ? undefined : `${quoteShortened(key)} ${problem}`;
};

/** The same, without the key itself. */
export const keyProblem = (key: string): string | undefined => {
  const problem = unfit(key);
  if (problem !== undefined) return problem;
  const length = key.length;
  if (length * 2 > MAX_LENGTH && utf16Length(key) > MAX_LENGTH)
    return `is a key of more than ${MAX_LENGTH} characters`;
  // Halves are rare, and quoting finds them natively.
  const halved = JSON.stringify(key).includes("\\ud") && mend(key) !== key;
  return halved ? "is a key with half of a surrogate pair" : undefined;
};

// Markup fails the platform's script check after its 200, and the whole element is lost silently.
// The exact characters are unknown, so all that begin or end a tag are refused. The database
// refuses control characters.
const unfit = (key: string): string | undefined => {
  if (key.trim() === "") return "is a blank key";
  if (key.includes(",")) return "is a key with a comma";
  if (key.includes("<") || key.includes(">") || key.includes("{{")) return "is a key with markup";
  return hasControl(key) ? "is a key with a control character" : undefined;
};

const utf16Length = (text: string): number => {
  let length = 0;
  for (const char of text) length += (char.codePointAt(0) as number) > 0xffff ? 2 : 1;
  return length;
};
