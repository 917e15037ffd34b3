import { Digest as Native } from "crypt";
import type { Digest } from "../../src/port.js";

const ALGORITHMS = ["MD5", "SHA256", "SHA384", "SHA512"];

/** The SDK's digests. The native class throws on a name it does not know, so it is never asked for one. */
export function digest(algorithm: string): Digest | undefined {
  if (!ALGORITHMS.includes(algorithm)) return undefined;
  const native = new Native(algorithm);
  return {
    write(bytes) {
      native.write(bytes);
    },
    close: () => new Uint8Array(native.close()),
  };
}
