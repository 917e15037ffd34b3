import { pause } from "../../../platform/wait.js";
import type { Digest, Host } from "../../../port.js";
import { sameChecksum } from "../../../wire/crypto/checksum.js";
import { toHex } from "../../../wire/crypto/hex.js";
import { isSignedBy } from "../../../wire/crypto/p256.js";
import type { Image } from "../admission.js";

// Verifies the bytes of an image by checksum and, if there is a key, by signature.

/** The problem with an image; undefined if it is valid. */
export type Problem = "checksum" | "signature" | undefined;

const SIGNED = "SHA256";

export class Check {
  private readonly _host: Host;
  readonly image: Image;
  private readonly _digest: Digest;
  /** Digest for the signature; undefined if not needed, or if the checksum serves for it. */
  private readonly _signed: Digest | undefined;

  constructor(host: Host, image: Image, digest: Digest) {
    this._host = host;
    this.image = image;
    this._digest = digest;
    if (image.signed && image.algorithm !== SIGNED) this._signed = host.digest(SIGNED);
  }

  absorb(bytes: Uint8Array): void {
    this._digest.write(bytes);
    this._signed?.write(bytes);
  }

  /** Checksum of all bytes; valid after `problem()`. */
  found = "";

  /** Judges all bytes. Call once. */
  async problem(): Promise<Problem> {
    const { checksum, algorithm, signed } = this.image;
    const found = toHex(this._digest.close());
    this.found = found;
    // Empty only while nothing but the downloaded bytes is known about the image.
    if (checksum !== "" && !sameChecksum(found, checksum)) return "checksum";
    if (!signed) return undefined;
    const digest = algorithm === SIGNED ? found : this._signed && toHex(this._signed.close());
    const rest = () => pause(this._host.clock);
    return digest && (await isSignedBy(signed.key, digest, signed.signature, rest)) ? undefined : "signature";
  }
}

/** Undefined if the host cannot compute the checksum. */
export const openCheck = (host: Host, image: Image): Check | undefined => {
  const digest = host.digest(image.algorithm);
  return digest && new Check(host, image, digest);
};
