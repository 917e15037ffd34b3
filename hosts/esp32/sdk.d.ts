// Additions to hosts/moddable/sdk.d.ts, as far as used here.

/** native/functions.js */
declare module "mote/native-functions" {
  /** The functions listed as "ffi" in the manifests. */
  export default function nativeFunctions(): unknown;
}

/** native/digest/digest.js */
declare module "mote/native-digest" {
  import type { NativeDigest } from "../moddable/digest.js";

  const Digest: new (name: "MD5" | "SHA256" | "SHA384" | "SHA512") => NativeDigest;
  export default Digest;
}

/** native/tls/tls.js */
declare module "mote/native-tls" {
  import type { NativeTls } from "./network/tls-socket.js";

  const Tls: new (
    name: string,
    address: string,
    port: number,
    authorities: readonly Uint8Array[],
    event: (what: number, reason?: string) => void,
  ) => NativeTls;
  export default Tls;
}
