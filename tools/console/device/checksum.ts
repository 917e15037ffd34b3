// Checksums of a file, by the browser's digests.

import { toHex } from "../../../src/wire/crypto/hex.js";
import type { Algorithm } from "../../operator/shapes.js";

const OWN: Partial<Record<Algorithm, string>> = { SHA256: "SHA-256", SHA384: "SHA-384", SHA512: "SHA-512" };

/** Lower-case hex; undefined without browser support (MD5; every digest over remote http). */
export async function checksumOf(algorithm: Algorithm, bytes: ArrayBuffer): Promise<string | undefined> {
  const own = OWN[algorithm];
  const subtle = globalThis.crypto.subtle as SubtleCrypto | undefined;
  return own && subtle && toHex(new Uint8Array(await subtle.digest(own, bytes)));
}
