// The one form of small values that outlive a run, in the store and over a sleep. All ASCII, except
// strings in the JSON text:
//
//    0  format, one character
//    1  CRC-32 of the JSON text, eight lower-case hexadecimal digits
//    9  JSON text as UTF-8
//
// Members may be added within a format; other versions ignore them. A new format must wait for
// confirmation of the image: on trial, write the old format, so that the previous image can read it
// after a rollback.
import type { Host } from "./port.js";
import { crcOf } from "./wire/crypto/crc32.js";
import { toHex } from "./wire/crypto/hex.js";
import { type Json, parseJson } from "./wire/text/json.js";

/** The part of a host that the form needs. */
export type SealHost = Pick<Host, "encode" | "decode" | "loops">;

const FORMAT = "1";
const HEAD_BYTES = 9;

/** `json`: the value as JSON text. */
export const seal = (host: SealHost, json: string): Uint8Array => {
  const bytes = host.encode(`         ${json}`);
  bytes.set(headOf(host, bytes));
  return bytes;
};

/** Undefined if `bytes` are damaged or of another format. */
export const unseal = (host: SealHost, bytes: Uint8Array): Json | undefined => {
  if (bytes.length < HEAD_BYTES) return undefined;
  const head = headOf(host, bytes);
  for (let i = 0; i < HEAD_BYTES; i++) if (bytes[i] !== head[i]) return undefined;
  return jsonIn(host, bytes);
};

/** The JSON value in `bytes`, which may be damaged; undefined if it cannot be parsed. */
export const jsonIn = (host: Pick<Host, "decode">, bytes: Uint8Array): Json | undefined => {
  const text = host.decode(bytes.subarray(HEAD_BYTES));
  const parsed = text === undefined ? undefined : parseJson(text);
  return parsed?.ok ? parsed.value : undefined;
};

/** False for a value that another version wrote, unless its first byte is damaged. */
export const isOwnFormat = (bytes: Uint8Array): boolean => bytes[0] === FORMAT.charCodeAt(0);

const headOf = (host: SealHost, bytes: Uint8Array): Uint8Array => {
  const crc = crcOf(host, bytes.subarray(HEAD_BYTES));
  return host.encode(FORMAT + toHex(Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc)));
};
