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
  for (let i = 0; i < expected.length; i++) {
    if (found?.[i] !== expected[i])
      throw new Error(`${what}: byte ${i} is ${found?.[i]}, not ${expected[i]}`);
  }
}

/** Bytes that repeat after 65,537 only, so that a piece lost or doubled shows. */
export function pattern(length: number, seed = 0): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) {
    const n = (i + seed) % 65_537;
    bytes[i] = (n ^ (n >> 8)) & 0xff;
  }
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
