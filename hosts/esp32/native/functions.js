// What the manifests list as "ffi". Each `new FFI()` makes all of these functions again, in the engine's memory (2.7 KB), so there is one.
import FFI from "mc/ffi";

let functions;

export default () => {
  functions ??= new FFI();
  return functions;
};
