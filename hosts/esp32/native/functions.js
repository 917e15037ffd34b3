// The functions under "ffi" in the manifests. There is one instance, because each `new FFI()` would
// create all of them again in the engine's memory (2.7 KB).
import FFI from "mc/ffi";

let functions;

export default () => {
  functions ??= new FFI();
  return functions;
};
