import { createHash } from "node:crypto";
import type { Digest } from "../../src/port.js";

const NAMES: Readonly<Record<string, string>> = {
  MD5: "md5",
  SHA256: "sha256",
  SHA384: "sha384",
  SHA512: "sha512",
};

export function digest(algorithm: string): Digest | undefined {
  const name = Object.hasOwn(NAMES, algorithm) ? NAMES[algorithm] : undefined;
  if (name === undefined) return undefined;
  try {
    return running(name);
  } catch {
    // A FIPS build of Node has no MD5.
    return undefined;
  }
}

export const sha256 = (): Digest => running("sha256");

/** Throws if this Node lacks the algorithm. */
function running(name: string): Digest {
  const hash = createHash(name);
  return {
    write: (bytes) => void hash.update(bytes),
    close: () => new Uint8Array(hash.digest()),
  };
}
