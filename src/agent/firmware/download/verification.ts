import { pause } from "../../../platform/wait.js";
import type { Digest, Host } from "../../../port.js";
import { openDigest, sameChecksum } from "../../../wire/crypto/checksum.js";
import { toHex } from "../../../wire/crypto/hex.js";
import { isSignedBy, toPublicKey, toSignature } from "../../../wire/crypto/p256.js";
import type { Image } from "../admission.js";

// Verifies the bytes of an image by checksum and, if there is a key, by signature.

/** The problem with an image; undefined if it is valid. */
export type Problem = "checksum" | "signature" | undefined;

const SIGNED = "SHA256";

export class Check {
  private readonly _host: Host;
  private readonly _image: Image;
  private readonly _digest: Digest;
  /** Digest for the signature; undefined if not needed, or if the checksum serves for it. */
  private readonly _signed: Digest | undefined;
  private readonly _mark = new StatementMark();

  constructor(host: Host, image: Image, digest: Digest) {
    this._host = host;
    this._image = image;
    this._digest = digest;
    if (image.signed && image.algorithm !== SIGNED) this._signed = host.digest(SIGNED);
  }

  write(bytes: Uint8Array): void {
    this._mark.write(bytes);
    this._digest.write(bytes);
    this._signed?.write(bytes);
  }

  /** Checksum of all bytes; valid after `problem()`. */
  found = "";

  /** Judges all bytes. Call once. */
  async problem(): Promise<Problem> {
    const { checksum, algorithm, signed } = this._image;
    const found = toHex(this._digest.close());
    this.found = found;
    // Empty only while nothing but the downloaded bytes is known about the image.
    if (checksum !== "" && !sameChecksum(found, checksum)) return "checksum";
    if (!signed) return undefined;
    if (this._mark.found) return "signature";
    const digest = algorithm === SIGNED ? found : this._signed && toHex(this._signed.close());
    const rest = () => pause(this._host.clock);
    return digest && (await isSignedBy(signed.key, digest, signed.signature, rest)) ? undefined : "signature";
  }
}

/** Undefined if the host cannot compute the checksum. */
export const openCheck = (host: Host, image: Image): Check | undefined => {
  const digest = openDigest(image.algorithm, (name) => host.digest(name));
  return digest && new Check(host, image, digest);
};

// Signatures made with the firmware key over something other than an image.

/**
 * Prefix of every statement signed with the firmware key; no image may begin with it. So the
 * signature of a statement never passes for that of an image, or the reverse.
 */
const STATEMENT_MARK = "\u0000mote ";

/** Compares the first bytes of a stream with STATEMENT_MARK. */
export class StatementMark {
  private _matched = 0;
  private _differs = false;

  write(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length && !this._differs && !this.found; i++) {
      if (bytes[i] === STATEMENT_MARK.charCodeAt(this._matched)) this._matched++;
      else this._differs = true;
    }
  }

  get found(): boolean {
    return this._matched === STATEMENT_MARK.length;
  }
}

/**
 * Verifies a signed statement. False without the mark, a valid `publicKey` or a valid `signature`.
 */
export async function isSigned(
  host: Host,
  publicKey: string | undefined,
  bytes: Uint8Array,
  signature: string,
): Promise<boolean> {
  const mark = new StatementMark();
  mark.write(bytes);
  const key = toPublicKey(publicKey ?? "");
  const parts = toSignature(signature);
  const digest = mark.found && key && parts && host.digest("SHA256");
  if (!digest) return false;
  digest.write(bytes);
  return isSignedBy(key, toHex(digest.close()), parts, () => pause(host.clock));
}
