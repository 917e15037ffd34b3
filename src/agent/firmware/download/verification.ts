// Judges the bytes of an image: by its checksum, and by its signature if there is a key.
import type { Digest, Host } from "../../../port.js";
import { openDigest, sameChecksum } from "../../../wire/crypto/checksum.js";
import { toHex } from "../../../wire/crypto/hex.js";
import { isSignedBy } from "../../../wire/crypto/p256.js";
import type { Image } from "../admission-rules.js";
import { pause } from "../pause.js";
import { StatementMark } from "../signed.js";

/** What is wrong with an image; undefined if nothing is. */
export type Problem = "checksum" | "signature" | undefined;

const SIGNED = "SHA256";

export class Check {
  private readonly _host: Host;
  private readonly _image: Image;
  private readonly _digest: Digest;
  /** What is signed; undefined if nobody asks, or if it is the checksum. */
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

  /** The checksum of all that was written, once `problem` was asked. */
  found = "";

  /** Of all that was written. To be called once. */
  async problem(): Promise<Problem> {
    const { checksum, algorithm, signed } = this._image;
    const found = toHex(this._digest.close());
    this.found = found;
    // Empty only while nothing is known of it but what came.
    if (checksum !== "" && !sameChecksum(found, checksum)) return "checksum";
    if (!signed) return undefined;
    if (this._mark.found) return "signature";
    const digest = algorithm === SIGNED ? found : this._signed && toHex(this._signed.close());
    const rest = () => pause(this._host.clock);
    return digest && (await isSignedBy(signed.key, digest, signed.signature, rest)) ? undefined : "signature";
  }
}

/** Undefined if the host can't compute the checksum. */
export const openCheck = (host: Host, image: Image): Check | undefined => {
  const digest = openDigest(image.algorithm, (name) => host.digest(name));
  return digest && new Check(host, image, digest);
};
