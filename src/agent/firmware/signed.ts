// Whether somebody who holds the key of the firmware signed something that is no image.
import type { Host } from "../../port.js";
import { toHex } from "../../wire/crypto/hex.js";
import { isSignedBy, toPublicKey, toSignature } from "../../wire/crypto/p256.js";
import { pause } from "./pause.js";

/** `publicKey` and `signature` as in the options and in `fw_signature`; without either it is not. */
export async function isSigned(
  host: Host,
  publicKey: string | undefined,
  bytes: Uint8Array,
  signature: string,
): Promise<boolean> {
  const key = toPublicKey(publicKey ?? "");
  const parts = toSignature(signature);
  const digest = key && parts && host.digest("SHA256");
  if (!digest) return false;
  digest.write(bytes);
  return isSignedBy(key, toHex(digest.close()), parts, () => pause(host.clock));
}
