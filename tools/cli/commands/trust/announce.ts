// Creates signed CA announcements, and splits their certificates into attributes.
import { createHash, createPublicKey, type KeyObject, sign, verify, X509Certificate } from "node:crypto";
import {
  type Announced,
  type Announcement,
  isMeant,
  KEY,
  LARGEST,
  MOST,
  OLD,
  PIECE,
  pieceKeys,
  readAnnouncement,
  SHORT,
  signedText,
} from "../../../../extras/trust/announcement.js";
import { UsageError } from "../../usage.js";

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const DROP = /^(?:old|built-in|[0-9a-f]{16,64})$/;

export interface Wanted {
  /** The firmware title of the devices. */
  readonly product: string;
  /** DER. */
  readonly certificates: readonly Uint8Array[];
  readonly drop: readonly string[];
}

/** The CA certificates (DER) of a file, PEM or DER. Throws UsageError for an unusable one. */
export function authoritiesOf(file: Uint8Array, now = Date.now()): Uint8Array[] {
  const text = Buffer.from(file).toString("latin1");
  const found = (text.match(PEM) ?? [file]).map((one) => {
    try {
      return new Uint8Array(new X509Certificate(one).raw);
    } catch {
      throw new UsageError("--ca contains an invalid certificate (expected PEM or DER)");
    }
  });
  for (const der of found) {
    const reason = unfit(der, now);
    if (reason !== undefined) throw new UsageError(`--ca: ${reason} (${nameOf(der)})`);
  }
  if (found.length > MOST)
    throw new UsageError(`--ca contains ${found.length} certificates: expected at most ${MOST}`);
  return found;
}

/** Checks `--product`. Throws UsageError. */
export function productOf(title: string): string {
  const signature = "0".repeat(SHORT);
  if (title === "" || !readAnnouncement({ product: title, sequence: 1, ca: [], drop: [OLD], signature }))
    throw new UsageError("--product: must be a firmware title: 1 to 255 characters on one line");
  return title;
}

/** Checks `--drop`. Throws UsageError. */
export function dropsOf(words: readonly string[]): string[] {
  return words.map((word) => {
    const plain = word.toLowerCase().replaceAll(":", "");
    if (!DROP.test(plain))
      throw new UsageError(
        'invalid --drop: expected "old", "built-in", or at least 16 digits of a SHA-256 (list: mote trust list)',
      );
    return plain;
  });
}

/**
 * Continues `before`, the present value of the device's `moteTrust`, if the same key signed it for
 * the same product, or for none: a device that was offline for it gets all at once. Throws
 * UsageError for what no device would take.
 */
export function announce(before: unknown, wanted: Wanted, key: KeyObject, now = Date.now()): Announcement {
  const { product } = wanted;
  const last = signedEarlier(before, key);
  const earlier = last?.product === product || last?.product === "" ? last : undefined;
  const fresh = wanted.certificates.map((der) => ({ sha256: idOf(der), bytes: der.length }));
  const isFresh = (sha256: string): boolean => fresh.some((one) => one.sha256 === sha256);
  const startsOver = wanted.drop.includes(OLD) && fresh.length > 0;
  const kept = (startsOver ? [] : (earlier?.ca ?? [])).filter(
    ({ sha256 }) => !isFresh(sha256) && !isMeant(wanted.drop, sha256),
  );
  const ca = [...fresh, ...kept];
  if (ca.length > MOST)
    throw new UsageError(
      `too many CAs: a device stores at most ${MOST}, and ${kept.length} were announced before (drop ${ca.length - MOST} of these with --drop: ${kept
        .map(({ sha256 }) => sha256.slice(0, SHORT))
        .join(", ")})`,
    );
  const isBack = (what: string): boolean => ca.some(({ sha256 }) => isMeant([what], sha256));
  const drop = [...new Set([...(earlier?.drop ?? []), ...wanted.drop])].filter((what) => !isBack(what));
  const sequence = Math.max(Math.floor(now / 1000), (last?.sequence ?? 0) + 1);
  const announced: Announced = { product, sequence, ca, drop };
  const signature = sign("sha256", Buffer.from(signedText(announced)), key).toString("hex");
  const made = readAnnouncement({ ...announced, signature });
  if (!made) throw new UsageError("--drop lists too many CAs (drop all earlier ones: --drop old)");
  return made;
}

/** Pieces of the announced `certificates` by attribute. */
export function piecesOf({ ca }: Announced, certificates: readonly Uint8Array[]): Record<string, string> {
  const pieces: Record<string, string> = {};
  for (const one of ca) {
    const der = certificates.find((certificate) => idOf(certificate) === one.sha256);
    if (!der) continue;
    pieceKeys(one).forEach((name, n) => {
      pieces[name] = Buffer.from(der.subarray(n * PIECE, (n + 1) * PIECE)).toString("base64");
    });
  }
  return pieces;
}

/** Attributes with pieces that the announcement does not use. */
export function stale({ ca }: Announced, names: readonly string[]): string[] {
  const used = ca.flatMap(pieceKeys);
  return names.filter((name) => name.startsWith(`${KEY}-`) && !used.includes(name));
}

const RSA_BITS = 2048;
const RSA_EXPONENT = 65_537n;

/** The reason why no device should trust it as a CA. */
function unfit(der: Uint8Array, now: number): string | undefined {
  if (der.length > LARGEST) return `the certificate is longer than ${LARGEST} bytes`;
  const { ca, publicKey, validTo } = new X509Certificate(der);
  if (!ca) return "the certificate is not a CA's";
  const { modulusLength = RSA_BITS, publicExponent = RSA_EXPONENT } = publicKey.asymmetricKeyDetails ?? {};
  if (modulusLength < RSA_BITS || publicExponent < RSA_EXPONENT) return "the certificate's key is too weak";
  return Date.parse(validTo) < now ? "the certificate has expired" : undefined;
}

export function idOf(der: Uint8Array): string {
  return createHash("sha256").update(der).digest("hex");
}

function signedEarlier(before: unknown, key: KeyObject): Announcement | undefined {
  const read = readAnnouncement(before);
  if (!read) return undefined;
  const signature = Buffer.from(read.signature, "hex");
  return verify("sha256", Buffer.from(signedText(read)), createPublicKey(key), signature) ? read : undefined;
}

function nameOf(der: Uint8Array): string {
  return new X509Certificate(der).subject.replaceAll("\n", ", ");
}
