// MurmurHash3, 32 bits (x86), seed 0, as in the platform (Guava): little-endian.
import type { Digest } from "../../port.js";

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** "hello" is 47fa8b24. */
export class Murmur32 implements Digest {
  private _hash = 0;
  private _length = 0;
  /** Up to three bytes of an incomplete block. */
  private _tail = 0;

  write(bytes: Uint8Array): void {
    let tail = this._tail;
    let at = this._length & 3;
    for (let i = 0; i < bytes.length; i++) {
      tail |= (bytes[i] as number) << (8 * at);
      at++;
      if (at < 4) continue;
      this._hash = (Math.imul(rotate(this._hash ^ mix(tail), 13), 5) + 0xe6546b64) | 0;
      tail = 0;
      at = 0;
    }
    this._tail = tail;
    this._length += bytes.length;
  }

  close(): Uint8Array {
    let hash = this._hash ^ mix(this._tail) ^ this._length;
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    hash ^= hash >>> 16;
    return Uint8Array.of(hash, hash >>> 8, hash >>> 16, hash >>> 24);
  }
}

/** Maps zero to zero, so that an empty tail needs no special case. */
const mix = (block: number): number => {
  return Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
};
