// Names of telemetry and attributes.
import { hasControl, isMadeOf } from "./text/characters.js";
import { mend, quoteShortened } from "./text/text.js";

/** UTF-16 units, as the platform counts them. */
const MAX_LENGTH = 255;

/** True for the keys that most are: fine anywhere, and quoted as they stand. Saves the other checks, which cost five times as much. */
export const isPlainKey = (key: string): boolean => isMadeOf(key, "azAZ09__-.", 100);

/**
 * Says in one sentence why a key cannot be used, or undefined if it can: 1 to 255 characters, not blank, no comma (it could never be
 * asked for), no markup (`<`, `>`, `{{`), no control character, no half of a surrogate pair.
 */
export const checkKey = (key: string): string | undefined => {
  const problem = keyProblem(key);
  return problem === undefined ? undefined : `${quoteShortened(key)} ${problem}`;
};

/** The same without the key itself: what is said of it. */
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

// Markup fails the platform's script check after its 200, and with it the whole element is lost in silence; which characters exactly is not
// known, so all that begins or ends a tag is refused. A control character (NUL above all) is refused by the database.
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
