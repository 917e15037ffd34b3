// The announcement of CAs that an operator signs, as the shared attribute `moteTrust`:
//
//   {"product":"lamp","sequence":1795000000,"ca":[{"sha256":"64 digits","bytes":914}],
//    "drop":["old"],"signature":"DER in hexadecimal digits"}
//
// `product`: firmware title of the devices concerned. `ca`: CAs to add. `drop`: CAs to remove after
// a handshake without them succeeded, each by at least 16 digits of its SHA-256; "old": all that
// are not in `ca`; "built-in": those of the machine. The certificates (DER) are further shared
// attributes, in base64 and in pieces: `moteTrust-DIGITS-1`, `moteTrust-DIGITS-2` and so on. DIGITS
// are the first 16 of the SHA-256. The firmware key signs the announcement.

import { isMadeOf, LOWER_HEX } from "../../src/wire/text/characters.js";
import { isObject, type Json } from "../../src/wire/text/json.js";

export const KEY = "moteTrust";
/** Maximum number of CAs that a device stores besides its initial ones. */
export const MOST = 3;
/** Maximum bytes of a certificate. With RSA and 4,096 bits it has some 1,400. */
export const LARGEST = 2048;
/**
 * Bytes of a certificate per piece, so that an answer with a piece fits a board's smallest limit.
 */
export const PIECE = 720;
/** Digits of a SHA-256 by which people, attributes and stored drops name a certificate. */
export const SHORT = 16;
export const OLD = "old";
export const BUILT_IN = "built-in";
const MOST_DROPS = 12;
const LONGEST_PRODUCT = 255;

/**
 * Beginning of the signed text. Images that begin with "\0mote " are neither signed by `mote sign`
 * nor accepted by the agent. So a signature of an announcement is never valid for an image, or the
 * reverse.
 */
export const MARK = "\u0000mote trust 2\n";
/** Mark of announcements without a product. Devices refuse them now. */
const MARK_WITHOUT_PRODUCT = "\u0000mote trust 1\n";

/** Hexadecimal digits. */
const SHA256 = 64;
const SIGNATURE = 144;

export interface Announced {
  /** The title of the firmware; "" in an announcement of an earlier release. */
  readonly product: string;
  /**
   * Increasing number: seconds since 1970, so that announcements for several devices have one
   * order.
   */
  readonly sequence: number;
  readonly ca: readonly { readonly sha256: string; readonly bytes: number }[];
  readonly drop: readonly string[];
}

export type Announcement = Announced & { readonly signature: string };

/** The text that is signed. */
export const signedText = ({ product, sequence, ca, drop }: Announced): string => {
  let text = product === "" ? MARK_WITHOUT_PRODUCT : `${MARK}product ${product}\n`;
  text += `${sequence}\n`;
  for (const { sha256, bytes } of ca) text += `ca ${sha256} ${bytes}\n`;
  for (const what of drop) text += `drop ${what}\n`;
  return text;
};

/** The value of the attribute; undefined if it is not an announcement. */
export const readAnnouncement = (value: unknown): Announcement | undefined => {
  if (!isObject(value)) return undefined;
  const { product = "", sequence, ca, drop, signature } = value;
  if (typeof product !== "string" || !isLine(product)) return undefined;
  if (!isCount(sequence, Number.MAX_SAFE_INTEGER)) return undefined;
  if (!Array.isArray(ca) || ca.length > MOST || !Array.isArray(drop) || drop.length > MOST_DROPS)
    return undefined;
  if (typeof signature !== "string" || !isHex(signature, SHORT, SIGNATURE)) return undefined;
  const certificates: { sha256: string; bytes: number }[] = [];
  for (const one of ca) {
    const { sha256, bytes } = isObject(one) ? one : {};
    if (typeof sha256 !== "string" || !isHex(sha256, SHA256, SHA256) || !isCount(bytes, LARGEST))
      return undefined;
    certificates.push({ sha256, bytes: bytes as number });
  }
  if (!drop.every(isDrop) || certificates.length + drop.length === 0) return undefined;
  return { product, sequence: sequence as number, ca: certificates, drop: drop as string[], signature };
};

/** The attributes with the pieces of a certificate. */
export const pieceKeys = ({ sha256, bytes }: Announced["ca"][number]): string[] => {
  const keys: string[] = [];
  for (let from = 0; from < bytes; from += PIECE)
    keys.push(`${KEY}-${sha256.slice(0, SHORT)}-${keys.length + 1}`);
  return keys;
};

/** True if `drop` names the CA `id` (a SHA-256, or BUILT_IN). */
export const isMeant = (drop: readonly string[], id: string): boolean =>
  drop.some((what) => (id === BUILT_IN || what === BUILT_IN ? id === what : id.startsWith(what)));

/** The name of a CA in stored drops, and for people. */
export const short = (id: string): string => (id === BUILT_IN ? id : id.slice(0, SHORT));

const isDrop = (value: Json): boolean =>
  value === OLD || value === BUILT_IN || (typeof value === "string" && isHex(value, SHORT, SHA256));

const isHex = (text: string, least: number, most: number): boolean =>
  text.length >= least && isMadeOf(text, LOWER_HEX, most);

const isCount = (value: Json | undefined, most: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value > 0 && value <= most;

/** Rejects control characters: with a line break, two announcements could have one signed text. */
const isLine = (text: string): boolean => {
  if (text.length > LONGEST_PRODUCT) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) < 0x20) return false;
  return true;
};
