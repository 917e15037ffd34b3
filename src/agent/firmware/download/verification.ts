import type { Clock, Digest, Host } from "../../../port.js";
import { openDigest, sameChecksum } from "../../../wire/crypto/checksum.js";
import { toHex } from "../../../wire/crypto/hex.js";
import { isSignedBy, toPublicKey, toSignature } from "../../../wire/crypto/p256.js";
import type { Image } from "../admission.js";

// Judges the bytes of an image: by its checksum, and by its signature if there is a key.

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

// Signatures that the firmware key made over something other than an image.

/**
 * Every statement signed with the firmware key begins with this mark, and no image may.
 * So a signature of one never passes for the other's, whichever program made it.
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

/** False if `bytes` do not begin with the mark, or if there is no valid `publicKey` or `signature`. */
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

/** Lets other work go on. */
export const pause = (clock: Clock): Promise<void> => {
  return new Promise((resolve) => {
    clock.timer(0, resolve);
  });
};
