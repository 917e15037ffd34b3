// Certificates pasted into a page: PEM, or the base64 of one. Each TLS handshake
// verifies them.
import type { Host } from "../../src/port.js";
import { withoutBlanks } from "../../src/wire/text/characters.js";
import { fromBase64, isBase64 } from "./base64.js";

const BEGIN = "-----BEGIN ";
const DASHES = "-----";
const CERTIFICATE = "CERTIFICATE";
const NOT_PEM = "not a certificate (expected PEM)";
/** Maximum length in base64: everything must fit one stored value. */
const LONGEST = 3000;
const TOO_LONG = `the certificates are too long (${LONGEST} characters at most): enter the CA's certificate only`;
const MOST = 4;
const SEQUENCE = 0x30;

/**
 * The certificates as base64 without blanks, or the problem for people, without quoting the text.
 */
export const readAuthorities = (text: string): string[] | string => {
  if (text.length > 2 * LONGEST) return TOO_LONG;
  const found: string[] = [];
  let rest = text.trim();
  if (isBase64(withoutBlanks(rest))) {
    found.push(withoutBlanks(rest));
    rest = "";
  }
  while (rest !== "") {
    const label = rest.startsWith(BEGIN) ? (rest.slice(BEGIN.length).split(DASHES)[0] as string) : "";
    const content = BEGIN.length + label.length + DASHES.length;
    const last = `-----END ${label}-----`;
    const end = rest.indexOf(last, content);
    if (label === "" || end < 0) return NOT_PEM;
    if (label !== CERTIFICATE) return "contains more than certificates: never share a private key";
    found.push(withoutBlanks(rest.slice(content, end)));
    rest = rest.slice(end + last.length).trim();
  }
  if (found.length > MOST || found.join("").length > LONGEST) return TOO_LONG;
  return found.every(isSequence) && found.length > 0 ? found : NOT_PEM;
};

/** True for one DER element with nothing after it. */
const isSequence = (base64: string): boolean => {
  const der = fromBase64(base64);
  if (!der || der[0] !== SEQUENCE || der.length < 64) return false;
  const size = (der[1] as number) & 0x7f;
  if ((der[1] as number) < 0x80) return der.length === 2 + size;
  if (size > 2) return false;
  let length = 0;
  for (let i = 0; i < size; i++) length = length * 256 + (der[2 + i] as number);
  return der.length === 2 + size + length;
};

/**
 * Same as the port's `authorities`: identifies the CAs of an owner regardless of their spelling;
 * empty if none.
 */
export const nameOf = (
  { digest, encode }: Pick<Host, "digest" | "encode">,
  ca: string | undefined,
): string | undefined => {
  const read = ca === undefined ? [] : readAuthorities(ca);
  if (typeof read === "string" || read.length === 0) return "";
  const sum = digest("SHA256");
  sum?.write(encode(read.join()));
  let name = "";
  for (const byte of sum?.close().subarray(0, 16) ?? []) name += byte.toString(16).padStart(2, "0");
  return name === "" ? undefined : name;
};
