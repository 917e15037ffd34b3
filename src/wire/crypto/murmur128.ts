// MurmurHash3, 128 bits (x64), seed 0, as in the platform (Guava): h1, then h2, each little-endian.
import type { Digest } from "../../port.js";

const C1 = 0x87c37b91114253d5n;
const C2 = 0x4cf5ad432745937fn;

/** Mask of 64 bits. */
const word = (value: bigint): bigint => BigInt.asUintN(64, value);

const rotate = (value: bigint, by: bigint): bigint => word((value << by) | (value >> (64n - by)));

/** Maps zero to zero, so that missing bytes of a block have no effect. */
const mix = (block: bigint, by: bigint, first: bigint, second: bigint): bigint =>
  word(rotate(word(block * first), by) * second);

/** Mixes every bit of the word into every other. */
const finish = (value: bigint): bigint => {
  let hash = word((value ^ (value >> 33n)) * 0xff51afd7ed558ccdn);
  hash = word((hash ^ (hash >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return hash ^ (hash >> 33n);
};

/** "hello" is 029bbd41b3a7d8cb191dae486a901e5b. */
export class Murmur128 implements Digest {
  private _h1 = 0n;
  private _h2 = 0n;
  private readonly _block = new DataView(new ArrayBuffer(16));
  private _length = 0;

  write(bytes: Uint8Array): void {
    for (let i = 0; i < bytes.length; i++) {
      const at = this._length++ % 16;
      this._block.setUint8(at, bytes[i] as number);
      if (at < 15) continue;
      const before = this._h2;
      this._mix();
      this._h1 = word((rotate(this._h1, 27n) + before) * 5n + 0x52dce729n);
      this._h2 = word((rotate(this._h2, 31n) + this._h1) * 5n + 0x38495ab5n);
    }
  }

  close(): Uint8Array {
    for (let at = this._length % 16; at < 16; at++) this._block.setUint8(at, 0);
    if (this._length % 16 > 0) this._mix();
    const length = BigInt(this._length);
    const h1 = (this._h1 ^ length) + (this._h2 ^ length);
    const h2 = (this._h2 ^ length) + h1;
    const last = finish(word(h2));
    const first = finish(word(h1)) + last;
    this._block.setBigUint64(0, word(first), true);
    this._block.setBigUint64(8, word(first + last), true);
    return new Uint8Array(this._block.buffer);
  }

  private _mix(): void {
    this._h1 ^= mix(this._block.getBigUint64(0, true), 31n, C1, C2);
    this._h2 ^= mix(this._block.getBigUint64(8, true), 33n, C2, C1);
  }
}
