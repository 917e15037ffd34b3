// Parameters as the platform's framework (Spring) reads them.

import { asciiDigits } from "../core/json/json-access.js";

/** Parameters of a query string by name, in order. A pair with a broken escape is left out; bytes that are no UTF-8 become U+FFFD. */
export function parseQuery(query: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const at = pair.indexOf("=");
    const name = decode(at < 0 ? pair : pair.slice(0, at));
    const value = decode(at < 0 ? "" : pair.slice(at + 1));
    if (name === undefined || name === "" || value === undefined) continue;
    const known = values.get(name);
    if (known) known.push(value);
    else values.set(name, [value]);
  }
  return values;
}

const BROKEN = /%(?![0-9a-fA-F]{2})/;

function decode(text: string): string | undefined {
  return BROKEN.test(text) ? undefined : decodePercent(text.replaceAll("+", " "));
}

/** Percent signs decoded as UTF-8; those of the text must be whole. */
export function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  const bytes = text.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** What a whole number is not, in the words of the platform's language. */
export class NumberError extends Error {
  override name = "NumberError";
}

const HEX = /^-?(?:0x|0X|#)/;
const DECIMAL = /^[+-]?\p{Nd}+$/u;
// biome-ignore lint/suspicious/noControlCharactersInRegex: blank in the platform's language
const BLANK = /[\t-\r\x1c-\x20\u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]/g;

/** A whole number: `5`, `+5`, `0x1F`, with blanks anywhere. Throws NumberError if it's none or has more than `bits` bits. */
export function parseInteger(text: string, bits: 32 | 64): bigint {
  const trimmed = text.replace(BLANK, "");
  const isHex = HEX.test(trimmed);
  const digits = trimmed.replace(HEX, "");
  const fail = (): never => {
    throw new NumberError(
      isHex ? `For input string: "${digits}" under radix 16` : `For input string: "${trimmed}"`,
    );
  };
  if (!(isHex ? /^[0-9a-fA-F]+$/ : DECIMAL).test(digits) || digits.length > 1_000) return fail();
  const size = isHex ? BigInt(`0x${digits}`) : BigInt(asciiDigits(digits).replace("+", ""));
  const value = isHex && trimmed.startsWith("-") ? -size : size;
  return BigInt.asIntN(bits, value) === value ? value : fail();
}

const TRUE = new Set(["true", "on", "yes", "1"]);
const FALSE = new Set(["false", "off", "no", "0"]);

/** Undefined if it is neither. */
export function parseBoolean(text: string): boolean | undefined {
  const lower = text.trim().toLowerCase();
  if (TRUE.has(lower)) return true;
  return FALSE.has(lower) ? false : undefined;
}
