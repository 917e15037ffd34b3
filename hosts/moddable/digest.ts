import type { Digest, Host } from "../../src/port.js";

/** A digest of the SDK or the board. */
export interface NativeDigest {
  write(bytes: Uint8Array): void;
  close(): ArrayBuffer;
}

const ALGORITHMS = ["MD5", "SHA256", "SHA384", "SHA512"] as const;

/** `digest` of the port. The native class throws on unknown names, so check first. */
export const digester = (Native: new (name: (typeof ALGORITHMS)[number]) => NativeDigest): Host["digest"] => {
  return (algorithm): Digest | undefined => {
    const known = ALGORITHMS.find((name) => name === algorithm);
    if (known === undefined) return undefined;
    const native = new Native(known);
    return {
      write(bytes) {
        native.write(bytes);
      },
      close: () => new Uint8Array(native.close()),
    };
  };
};
