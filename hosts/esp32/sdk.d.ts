// What hosts/xs/sdk.d.ts leaves out, as far as it is used here.

/** Generated from the manifest's "ffi". */
declare module "mc/ffi" {
  export default class FFI {
    /** Makes its functions anew each time: once is enough. */
    constructor();
  }
}

declare module "rng" {
  const RNG: {
    /** Seeds what TLS draws from. */
    init(seed: ArrayBufferLike): void;
  };
  export default RNG;
}
