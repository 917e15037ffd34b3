// A CA that a device trusts: its id, its expiry, and whether its certificate is usable.
import type { Host } from "../../src/port.js";
import { toHex } from "../../src/wire/crypto/hex.js";
import { fromBase64 } from "../../src/wire/text/base64.js";
import { withoutBlanks } from "../../src/wire/text/characters.js";
import { BUILT_IN } from "./announcement.js";
import { readEnd } from "./certificate.js";

export interface Authority {
  /** SHA-256 of the certificate in hexadecimal digits; BUILT_IN for the CAs of the machine. */
  readonly id: string;
  /** Its certificate, DER; none for BUILT_IN. */
  readonly der: Uint8Array;
}

/** The first byte of every DER. */
const DER = 0x30;
const [BEGIN, END] = ["-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"];

export const MACHINES_OWN: Authority = { id: BUILT_IN, der: new Uint8Array(0) };

/** SHA-256 in hexadecimal digits; "" if the host has no SHA-256. */
export const sha256 = (host: Pick<Host, "digest">, bytes: Uint8Array): string => {
  const digest = host.digest("SHA256");
  digest?.write(bytes);
  return digest ? toHex(digest.close()) : "";
};

/** Parses a resource: one certificate as DER, or several as PEM. Anything else is an unknown CA. */
export const authoritiesIn = (host: Pick<Host, "digest" | "decode">, bytes: Uint8Array): Authority[] => {
  const text = bytes[0] === DER ? undefined : host.decode(bytes);
  const blocks = text?.split(END).slice(0, -1) ?? [];
  const read = blocks.map((block) => fromBase64(withoutBlanks(block.split(BEGIN).at(-1) ?? "")));
  const isRead = read.length > 0 && read.every((der) => der !== undefined);
  return (isRead ? read : [bytes]).map((der) => ({ id: sha256(host, der), der }));
};

/** Expiry in ms since 1970; undefined for an unreadable certificate and for BUILT_IN. */
export const endOf = ({ der }: Pick<Authority, "der">): number | undefined => {
  try {
    return readEnd(der);
  } catch {
    return undefined;
  }
};

/**
 * Why `der` cannot be used as a CA, for people; undefined if it can. The signer and each TLS
 * handshake verify the rest. `now`: undefined if the time is unknown.
 */
export const unfit = (der: Uint8Array, now: number | undefined): string | undefined => {
  const end = endOf({ der });
  if (end === undefined) return "it is not a certificate";
  return now !== undefined && end < now ? "the certificate has expired" : undefined;
};
