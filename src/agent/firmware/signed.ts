// Signatures that the firmware key made over something other than an image.
import type { Host } from "../../port.js";
import { toHex } from "../../wire/crypto/hex.js";
import { isSignedBy, toPublicKey, toSignature } from "../../wire/crypto/p256.js";
import { pause } from "./pause.js";

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
