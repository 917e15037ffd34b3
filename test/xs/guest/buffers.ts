// In place of host.ts where buffers are measured: notes each Uint8Array that is made, and reports
// the bytes of those that can still be reached.
import { type FromParent, tellParent } from "./host.js";

declare const gc: () => void;

const Native = Uint8Array;
let made: WeakRef<ArrayBufferLike>[] = [];

const Noted = new Proxy(Native, {
  construct(target, args, called) {
    const bytes = Reflect.construct(target, args, called) as Uint8Array;
    made.push(new WeakRef(bytes.buffer));
    return bytes;
  },
});
// What `slice` makes is noted as well.
Native.prototype.constructor = Noted;
globalThis.Uint8Array = Noted;

const notify: FromParent = () => {
  gc();
  const left = new Set<ArrayBufferLike>();
  for (const ref of made) {
    const buffer = ref.deref();
    if (buffer) left.add(buffer);
  }
  made = [...left].map((buffer) => new WeakRef(buffer));
  let bytes = 0;
  for (const buffer of left) bytes += buffer.byteLength;
  tellParent("buffers", bytes);
};
Object.assign(globalThis, { fromParent: notify });
