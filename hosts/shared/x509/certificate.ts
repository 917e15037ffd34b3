// An X.509 certificate, as far as a client that verifies a server needs it (RFC 5280).
import { bitsOf, DerError, DerReader, equalBytes, oidText, sequence, TAG, unsigned } from "./der.js";

const OID = {
  keyUsage: "2.5.29.15",
  altNames: "2.5.29.17",
  constraints: "2.5.29.19",
  extendedUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1",
  anyUsage: "2.5.29.37.0",
  rsa: "1.2.840.113549.1.1.1",
  ec: "1.2.840.10045.2.1",
} as const;

/** What it is signed with. SHA-1 and MD5 are not among them. */
export const ALGORITHMS: Readonly<Record<string, { key: "rsa" | "ec"; hash: string }>> = {
  "1.2.840.113549.1.1.11": { key: "rsa", hash: "SHA256" },
  "1.2.840.113549.1.1.12": { key: "rsa", hash: "SHA384" },
  "1.2.840.113549.1.1.13": { key: "rsa", hash: "SHA512" },
  "1.2.840.10045.4.3.2": { key: "ec", hash: "SHA256" },
  "1.2.840.10045.4.3.3": { key: "ec", hash: "SHA384" },
  "1.2.840.10045.4.3.4": { key: "ec", hash: "SHA512" },
};

export interface PublicKey {
  /** An object identifier. */
  readonly algorithm: string;
  /** RSA: the modulus's length in bits, and the exponent (Infinity for one of more than 6 bytes). */
  readonly bits?: number;
  readonly exponent?: number;
}

export interface Certificate {
  /** All of it. */
  readonly der: Uint8Array;
  /** The part that is signed. */
  readonly signed: Uint8Array;
  /** An object identifier. */
  readonly algorithm: string;
  readonly signature: Uint8Array;
  /** Names as they were encoded. */
  readonly issuer: Uint8Array;
  readonly subject: Uint8Array;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  readonly key: PublicKey;
  /** True if it may sign others: basicConstraints says so, and keyUsage does not forbid it. */
  readonly authority: boolean;
  /** Authorities that may stand between it and a server's certificate. */
  readonly pathLength: number;
  /** False if extendedKeyUsage leaves out servers. */
  readonly forServers: boolean;
  /** Host names and IP addresses (4 or 16 bytes) that it is for. */
  readonly hosts: readonly string[];
  readonly addresses: readonly Uint8Array[];
  /** An extension that must be understood and is not. */
  readonly strange: boolean;
}

/** Reads a certificate. Throws DerError for what is none, from its first byte to its last. */
export const readCertificate = (der: Uint8Array): Certificate => {
  const outer = new DerReader(der);
  const parts = new DerReader(outer.next(TAG.sequence).contents);
  outer.end();
  const signed = parts.next(TAG.sequence);
  const algorithm = parts.next(TAG.sequence).whole;
  const signature = bitsOf(parts.next(TAG.bits).contents);
  parts.end();
  const fields = new DerReader(signed.contents);
  fields.optional(0xa0);
  fields.next(TAG.integer);
  if (!equalBytes(fields.next(TAG.sequence).whole, algorithm)) throw new DerError("two signature algorithms");
  const issuer = fields.next(TAG.sequence).whole;
  const validity = new DerReader(fields.next(TAG.sequence).contents);
  const [from, to] = [readTime(validity), readTime(validity)];
  validity.end();
  const subject = fields.next(TAG.sequence).whole;
  const key = readKey(fields.next(TAG.sequence).whole);
  // Unique identifiers of version 2.
  fields.optional(0x81);
  fields.optional(0x82);
  const extensions = readExtensions(fields.optional(0xa3)?.contents);
  fields.end();
  return {
    ...{ der, signed: signed.whole, signature, issuer, subject, from, to, key },
    algorithm: oidText(sequence(algorithm).next(TAG.oid).contents),
    ...extensions,
  };
};

/** When it ends, in ms since 1970, and nothing else of it: for who has no room for the whole reader. Throws DerError. */
export const readEnd = (der: Uint8Array): number => {
  const fields = sequence(sequence(der).next(TAG.sequence).whole);
  fields.optional(0xa0);
  fields.next(TAG.integer);
  fields.next(TAG.sequence);
  fields.next(TAG.sequence);
  const validity = new DerReader(fields.next(TAG.sequence).contents);
  readTime(validity);
  return readTime(validity);
};

const readTime = (reader: DerReader): number => {
  const { tag, contents } = reader.next();
  const long = tag === TAG.time;
  if ((!long && tag !== TAG.utcTime) || contents.length !== (long ? 15 : 13)) throw new DerError("no time");
  const text = textOf(contents);
  if (!isTime(text)) throw new DerError("no time");
  const at = long ? 4 : 2;
  const two = (i: number): number => Number(text.slice(at + i, at + i + 2));
  const short = Number(text.slice(0, at));
  const year = long ? short : short < 50 ? 2000 + short : 1900 + short;
  return Date.UTC(year, two(0) - 1, two(2), two(4), two(6), two(8));
};

/** Byte by byte: spread arguments would lie on a board's stack of 640 slots. */
const textOf = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
};

const isTime = (text: string): boolean => {
  for (const char of text.slice(0, -1)) if (!"0123456789".includes(char)) return false;
  return text.endsWith("Z");
};

const readKey = (der: Uint8Array): PublicKey => {
  const info = sequence(der);
  const algorithm = oidText(sequence(info.next(TAG.sequence).whole).next(TAG.oid).contents);
  const bits = bitsOf(info.next(TAG.bits).contents);
  info.end();
  if (algorithm !== OID.rsa) return { algorithm };
  const numbers = sequence(bits);
  const modulus = unsigned(numbers.next(TAG.integer).contents);
  const exponent = unsigned(numbers.next(TAG.integer).contents);
  numbers.end();
  const value =
    exponent.length > 6 ? Number.POSITIVE_INFINITY : exponent.reduce((n, byte) => n * 256 + byte, 0);
  return { algorithm, bits: modulus.length * 8 - Math.clz32(modulus[0]!) + 24, exponent: value };
};

type Extensions = Pick<
  Certificate,
  "authority" | "pathLength" | "forServers" | "hosts" | "addresses" | "strange"
>;

const readExtensions = (contents: Uint8Array | undefined): Extensions => {
  const found = { constrained: false, mayNotSign: false, pathLength: Number.POSITIVE_INFINITY };
  const known = { forServers: true, hosts: [] as string[], addresses: [] as Uint8Array[], strange: false };
  const list = contents && sequence(contents);
  const seen: string[] = [];
  while (list && !list.done) {
    const extension = new DerReader(list.next(TAG.sequence).contents);
    const id = oidText(extension.next(TAG.oid).contents);
    if (seen.includes(id)) throw new DerError("an extension twice");
    seen.push(id);
    const critical = extension.optional(TAG.boolean)?.contents[0] === 0xff;
    const value = extension.next(TAG.octets).contents;
    extension.end();
    if (id === OID.constraints) readConstraints(value, found);
    else if (id === OID.keyUsage)
      found.mayNotSign = !((new DerReader(value).next(TAG.bits).contents[1] ?? 0) & 0x04);
    else if (id === OID.extendedUsage) known.forServers = namesServers(value);
    else if (id === OID.altNames) readNames(value, known);
    else if (critical) known.strange = true;
  }
  const { constrained, mayNotSign, pathLength } = found;
  return { ...known, authority: constrained && !mayNotSign, pathLength };
};

const readConstraints = (value: Uint8Array, found: { constrained: boolean; pathLength: number }): void => {
  const constraints = sequence(value);
  found.constrained = constraints.optional(TAG.boolean)?.contents[0] === 0xff;
  const length = constraints.optional(TAG.integer);
  constraints.end();
  if (length) found.pathLength = unsigned(length.contents)[0]!;
};

const namesServers = (value: Uint8Array): boolean => {
  const usages = sequence(value);
  while (!usages.done) {
    const usage = oidText(usages.next(TAG.oid).contents);
    if (usage === OID.serverAuth || usage === OID.anyUsage) return true;
  }
  return false;
};

const readNames = (value: Uint8Array, known: { hosts: string[]; addresses: Uint8Array[] }): void => {
  const names = sequence(value);
  while (!names.done) {
    const { tag, contents } = names.next();
    if (tag === 0x82 && contents.length <= 255) known.hosts.push(textOf(contents));
    else if (tag === 0x87) known.addresses.push(contents);
  }
};
