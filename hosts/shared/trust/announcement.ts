// What an operator announces of a device's authorities, as the shared attribute `moteTrust`:
//
//   {"sequence":1795000000,"ca":[{"sha256":"64 digits","bytes":914}],"drop":["16 digits or more", "old", "built-in"],"signature":"DER in hexadecimal digits"}
//
// `ca`: authorities that are to be trusted beside the others; `drop`: those to be dropped, by the beginnings of their SHA-256, once a handshake by another
// succeeded; "old": all that are not in `ca`; "built-in": those that come with the machine. The certificates (DER) lie beside it, in base64 and in pieces:
// `moteTrust-DIGITS-1`, `moteTrust-DIGITS-2`, DIGITS being the first 16 of the SHA-256. The signature is made with the key that signs firmware.

import { isMadeOf } from "../../../src/wire/text/characters.js";
import { isObject, type Json } from "../../../src/wire/text/json.js";

export const KEY = "moteTrust";
/** Authorities that a device keeps beside those that it was given. */
export const MOST = 3;
/** Of a certificate, in bytes: one of RSA with 4,096 bits has some 1,400. */
export const LARGEST = 2048;
/** Bytes of a certificate in a piece: with it an answer stays below the smallest that a board takes. */
export const PIECE = 720;
/** Digits of a SHA-256 by which people and attributes name a certificate. */
export const SHORT = 16;
export const OLD = "old";
export const BUILT_IN = "built-in";
const MOST_DROPS = 12;

/**
 * The signed text begins with it. The agent takes no image that begins with "\0mote ", and `mote sign`
 * signs none, so a signature of an announcement never passes for that of an image, or the reverse.
 */
export const MARK = "\u0000mote trust 1\n";

/** Hexadecimal digits. */
const SHA256 = 64;
const BEGINNING = 16;
const SIGNATURE = 144;

export interface Announced {
  /** Greater than that of any before: seconds since 1970, so that those for several devices have one order. */
  readonly sequence: number;
  readonly ca: readonly { readonly sha256: string; readonly bytes: number }[];
  readonly drop: readonly string[];
}

export type Announcement = Announced & { readonly signature: string };

/** What is signed, as a text. */
export const signedText = ({ sequence, ca, drop }: Announced): string => {
  let text = `${MARK}${sequence}\n`;
  for (const { sha256, bytes } of ca) text += `ca ${sha256} ${bytes}\n`;
  for (const what of drop) text += `drop ${what}\n`;
  return text;
};

/** The value of the attribute; undefined for what is none. */
export const readAnnouncement = (value: unknown): Announcement | undefined => {
  if (!isObject(value)) return undefined;
  const { sequence, ca, drop, signature } = value;
  if (!isCount(sequence, Number.MAX_SAFE_INTEGER)) return undefined;
  if (!Array.isArray(ca) || ca.length > MOST || !Array.isArray(drop) || drop.length > MOST_DROPS)
    return undefined;
  if (typeof signature !== "string" || !isHex(signature, BEGINNING, SIGNATURE)) return undefined;
  const certificates: { sha256: string; bytes: number }[] = [];
  for (const one of ca) {
    const { sha256, bytes } = isObject(one) ? one : {};
    if (typeof sha256 !== "string" || !isHex(sha256, SHA256, SHA256) || !isCount(bytes, LARGEST))
      return undefined;
    certificates.push({ sha256, bytes: bytes as number });
  }
  if (!drop.every(isDrop) || certificates.length + drop.length === 0) return undefined;
  return { sequence: sequence as number, ca: certificates, drop: drop as string[], signature };
};

/** The attributes that hold the pieces of a certificate. */
export const pieceKeys = ({ sha256, bytes }: Announced["ca"][number]): string[] => {
  const keys: string[] = [];
  for (let from = 0; from < bytes; from += PIECE)
    keys.push(`${KEY}-${sha256.slice(0, SHORT)}-${keys.length + 1}`);
  return keys;
};

/** True if `drop` is meant for the authority of this name (a SHA-256, or BUILT_IN). */
export const isMeant = (drop: readonly string[], id: string): boolean =>
  drop.some((what) => (id === BUILT_IN || what === BUILT_IN ? id === what : id.startsWith(what)));

const isDrop = (value: Json): boolean =>
  value === OLD || value === BUILT_IN || (typeof value === "string" && isHex(value, BEGINNING, SHA256));

const isHex = (text: string, least: number, most: number): boolean =>
  text.length >= least && isMadeOf(text, "09af", most);

const isCount = (value: Json | undefined, most: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= most;
