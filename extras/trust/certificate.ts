// Reads the one field of an X.509 certificate (RFC 5280) that a device needs itself; TLS checks the
// rest.
import { DerError, DerReader, sequence, TAG } from "./der.js";

/** When a certificate (DER) expires, in ms since 1970. Throws DerError. */
export const readEnd = (der: Uint8Array): number => {
  const fields = sequence(sequence(der).next(TAG.sequence).whole);
  fields.optional(TAG.version);
  fields.next(TAG.integer);
  fields.next(TAG.sequence);
  fields.next(TAG.sequence);
  const validity = new DerReader(fields.next(TAG.sequence).contents);
  readTime(validity);
  return readTime(validity);
};

const readTime = (reader: DerReader): number => {
  const { tag, contents } = reader.next();
  const isLong = tag === TAG.time;
  if ((!isLong && tag !== TAG.utcTime) || contents.length !== (isLong ? 15 : 13))
    throw new DerError("not a time");
  const text = textOf(contents);
  if (!isTime(text)) throw new DerError("not a time");
  const at = isLong ? 4 : 2;
  const two = (i: number): number => Number(text.slice(at + i, at + i + 2));
  const short = Number(text.slice(0, at));
  const year = isLong ? short : short < 50 ? 2000 + short : 1900 + short;
  return Date.UTC(year, two(0) - 1, two(2), two(4), two(6), two(8));
};

/** Byte by byte, because spread arguments would use a board's stack of 640 slots. */
const textOf = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

const isTime = (text: string): boolean => {
  for (const char of text.slice(0, -1)) if (!"0123456789".includes(char)) return false;
  return text.endsWith("Z");
};
