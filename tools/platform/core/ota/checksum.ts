// The checksums of OTA packages that devices accept. The server has CRC32 and MURMUR3 as well.
import { createHash } from "node:crypto";

export const ALGORITHMS = ["MD5", "SHA256", "SHA384", "SHA512"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export function checksum(algorithm: Algorithm, bytes: Uint8Array): string {
  return createHash(algorithm.toLowerCase()).update(bytes).digest("hex");
}
