import type { Host } from "../../../src/port.js";

export function check(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

export function same(found: unknown, expected: unknown, what: string): void {
  check(Object.is(found, expected), `${what}: ${String(found)}, not ${String(expected)}`);
}

export function sameBytes(found: Uint8Array | undefined, expected: Uint8Array, what: string): void {
  check(found !== undefined, `${what}: nothing`);
  same(found?.length, expected.length, `${what}: length`);
  if (found !== undefined && sameWords(found, expected)) return;
  for (let i = 0; i < expected.length; i++) {
    if (found?.[i] !== expected[i])
      throw new Error(`${what}: byte ${i} is ${found?.[i]}, not ${expected[i]}`);
  }
}

/**
 * Compares four bytes at a time: an interpreter takes seconds for megabytes. False says nothing: it
 * may not be able to.
 */
function sameWords(one: Uint8Array, other: Uint8Array): boolean {
  const words = one.length >>> 2;
  if ((one.length & 3) !== 0 || (one.byteOffset & 3) !== 0 || (other.byteOffset & 3) !== 0) return false;
  const [left, right] = [one, other].map((bytes) => new Uint32Array(bytes.buffer, bytes.byteOffset, words));
  for (let i = 0; i < words; i++) if (left?.[i] !== right?.[i]) return false;
  return true;
}

const PERIOD = 65_537;

/** Bytes that repeat only after 65,537, so that a lost or doubled piece is noticed. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  const first = Math.min(length, PERIOD);
  for (let i = 0; i < first; i++) {
    const n = (i + seed) % PERIOD;
    bytes[i] = (n ^ (n >> 8)) & 0xff;
  }
  for (let made = first; made < length; made *= 2) bytes.copyWithin(made, 0, length - made);
  return bytes;
}

export function pause(host: Host, ms: number): Promise<void> {
  return new Promise((resolve) => {
    host.clock.timer(ms, resolve);
  });
}

/** Waits for `ready`, 10 s at most. */
export async function until(host: Host, ready: () => boolean, what: string): Promise<void> {
  const began = host.clock.now();
  while (!ready()) {
    check(host.clock.now() - began < 10_000, `${what}: not within 10 s`);
    await pause(host, 2);
  }
}
