import { characters, spanOf } from "../../src/wire/text/characters.js";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const SYMBOLS = characters("azAZ09++//");

/** True for non-empty base64, padded or not. */
export const isBase64 = (text: string): boolean => {
  const bare = spanOf(text, SYMBOLS);
  return bare > 0 && ["", "=", "=="].includes(text.slice(bare));
};

/** Undefined for invalid base64. */
export const fromBase64 = (text: string): Uint8Array | undefined => {
  if (!isBase64(text) || text.length % 4 !== 0) return undefined;
  const bare = text.endsWith("==") ? text.length - 2 : text.endsWith("=") ? text.length - 1 : text.length;
  const bytes = new Uint8Array(Math.floor((bare * 3) / 4));
  let bits = 0;
  let held = 0;
  let at = 0;
  for (const letter of text) {
    if (letter === "=") break;
    bits = ((bits << 6) | LETTERS.indexOf(letter)) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes[at++] = bits >> held;
  }
  return bytes;
};
