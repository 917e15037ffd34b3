// The SDK's module `timer` on Node.
export default {
  set: (call: () => void, ms = 0, repeatMs?: number): unknown =>
    repeatMs === undefined ? setTimeout(call, ms) : setTimeout(() => setInterval(call, repeatMs), ms),
  repeat: (call: () => void, ms: number): unknown => setInterval(call, ms),
  clear: (timer: NodeJS.Timeout | undefined): void => clearTimeout(timer),
  delay: (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
};
