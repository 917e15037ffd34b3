// Reads the lifetime of a JWT. Its authenticity is checked by the platform.

import type { Host } from "../port.js";
import { characters, isMadeOf } from "../wire/text/characters.js";
import { isObject, parseJson } from "../wire/text/json.js";

/** Characters allowed in a header and in a query without escaping. */
const FIT = characters("azAZ09__~~++-/==");
const LONGEST = 4096;
const SIGNS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** True for a text that can be sent as a token. */
export const isToken = (token: unknown): token is string => {
  return typeof token === "string" && isMadeOf(token, FIT, LONGEST);
};

/** Lifetime of the token in ms, `exp` - `iat`; undefined if the token does not state it. */
export const lifeMs = (host: Pick<Host, "decode">, token: string): number | undefined => {
  const bytes = fromBase64Url(token.split(".", 3)[1] ?? "");
  const text = bytes && host.decode(bytes);
  const claims = text === undefined ? undefined : parseJson(text);
  if (!claims?.ok || !isObject(claims.value)) return undefined;
  const { exp, iat } = claims.value;
  if (typeof exp !== "number" || typeof iat !== "number") return undefined;
  const life = (exp - iat) * 1000;
  return life > 0 && Number.isFinite(life) ? life : undefined;
};

const fromBase64Url = (text: string): Uint8Array | undefined => {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [used, bits, held] = [0, 0, 0];
  for (const sign of text) {
    const value = SIGNS.indexOf(sign);
    if (value < 0) return undefined;
    held = ((held << 6) | value) & 0xfff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[used++] = held >> bits;
  }
  return bytes.subarray(0, used);
};
