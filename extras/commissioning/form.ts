// Parses application/x-www-form-urlencoded, the format in which a browser sends a form.
import { isMadeOf, VISIBLE } from "../../src/wire/text/characters.js";

const MOST_FIELDS = 16;

/**
 * The values of the fields `names`. Undefined if `text` is not a valid form: a field twice, invalid
 * UTF-8, an unescaped character, or more than 16 fields.
 */
export const readForm = (text: string, names: readonly string[]): Record<string, string> | undefined => {
  if (text !== "" && !isMadeOf(text, VISIBLE)) return undefined;
  const values: Record<string, string> = {};
  const pairs = text.split("&", MOST_FIELDS + 1);
  if (pairs.length > MOST_FIELDS) return undefined;
  for (const pair of pairs) {
    const at = pair.indexOf("=");
    const name = unescaped(at < 0 ? pair : pair.slice(0, at));
    const value = unescaped(at < 0 ? "" : pair.slice(at + 1));
    if (name === undefined || value === undefined) return undefined;
    if (!names.includes(name)) continue;
    if (Object.hasOwn(values, name)) return undefined;
    values[name] = value;
  }
  return values;
};

const unescaped = (text: string): string | undefined => {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
};
