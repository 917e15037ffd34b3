// MurmurHash3 of 128 bits (x64), seed 0, as the platform (Guava) computes and writes it: h1, then h2, each little-endian.
// 64-bit words are pairs of 32-bit numbers, since BigInt would make garbage for every block.
import type { Digest } from "../port.js";

/** A 64-bit word, changed in place. */
class Word {
  high = 0;
  low = 0;

  xor(other: Word): void {
    this.high ^= other.high;
    this.low ^= other.low;
  }

  add(high: number, low: number): void {
    const sum = (this.low >>> 0) + (low >>> 0);
    this.low = sum | 0;
    this.high = (this.high + high + (sum > 0xffffffff ? 1 : 0)) | 0;
  }

  multiply(high: number, low: number): void {
    const a = this.low & 0xffff;
    const b = this.low >>> 16;
    const c = low & 0xffff;
    const d = low >>> 16;
    const middle = b * c + ((a * c) >>> 16);
    const carry = (middle & 0xffff) + a * d;
    // The upper half of the product of the lower halves.
    const upper = b * d + Math.floor(middle / 0x10000) + Math.floor(carry / 0x10000);
    this.high = (Math.imul(this.high, low) + Math.imul(this.low, high) + (upper | 0)) | 0;
    this.low = Math.imul(this.low, low);
  }

  /** To the left by less than 32, or by 33 with `swap` first. */
  rotate(by: number, swap = false): void {
    const high = swap ? this.low : this.high;
    const low = swap ? this.high : this.low;
    this.high = (high << by) | (low >>> (32 - by));
    this.low = (low << by) | (high >>> (32 - by));
  }

  /** The final mix: every bit of the word on every other. */
  finish(): void {
    this.low ^= this.high >>> 1;
    this.multiply(0xff51afd7, 0xed558ccd);
    this.low ^= this.high >>> 1;
    this.multiply(0xc4ceb9fe, 0x1a85ec53);
    this.low ^= this.high >>> 1;
  }
}

/** "hello" is 029bbd41b3a7d8cb191dae486a901e5b. */
export class Murmur128 implements Digest {
  readonly #h1 = new Word();
  readonly #h2 = new Word();
  readonly #k1 = new Word();
  readonly #k2 = new Word();
  /** The block at hand: four times 32 bits, little-endian. */
  readonly #block = new Int32Array(4);
  #length = 0;

  write(bytes: Uint8Array): void {
    const block = this.#block;
    let at = this.#length & 15;
    for (let i = 0; i < bytes.length; i++) {
      const word = at >> 2;
      block[word] = (block[word] as number) | ((bytes[i] as number) << (8 * (at & 3)));
      at++;
      if (at < 16) continue;
      this.#mixBlock();
      at = 0;
    }
    this.#length += bytes.length;
  }

  close(): Uint8Array {
    this.#mixWords();
    const high = Math.floor(this.#length / 0x100000000);
    for (const word of [this.#h1, this.#h2]) {
      word.high ^= high;
      word.low ^= this.#length;
    }
    this.#addEachOther();
    this.#h1.finish();
    this.#h2.finish();
    this.#addEachOther();
    const bytes = new Uint8Array(16);
    [this.#h1.low, this.#h1.high, this.#h2.low, this.#h2.high].forEach((part, index) => {
      for (let i = 0; i < 4; i++) bytes[4 * index + i] = part >>> (8 * i);
    });
    return bytes;
  }

  #addEachOther(): void {
    this.#h1.add(this.#h2.high, this.#h2.low);
    this.#h2.add(this.#h1.high, this.#h1.low);
  }

  /** Mixes the block into h1 and h2; what it lacks is zero, and zero changes nothing. */
  #mixWords(): void {
    const [k1, k2, block] = [this.#k1, this.#k2, this.#block];
    k1.low = block[0] as number;
    k1.high = block[1] as number;
    k2.low = block[2] as number;
    k2.high = block[3] as number;
    k1.multiply(0x87c37b91, 0x114253d5);
    k1.rotate(31);
    k1.multiply(0x4cf5ad43, 0x2745937f);
    this.#h1.xor(k1);
    k2.multiply(0x4cf5ad43, 0x2745937f);
    k2.rotate(1, true);
    k2.multiply(0x87c37b91, 0x114253d5);
    this.#h2.xor(k2);
  }

  #mixBlock(): void {
    const [h1, h2] = [this.#h1, this.#h2];
    const [oldHigh, oldLow] = [h2.high, h2.low];
    this.#mixWords();
    h1.rotate(27);
    h1.add(oldHigh, oldLow);
    h1.multiply(0, 5);
    h1.add(0, 0x52dce729);
    h2.rotate(31);
    h2.add(h1.high, h1.low);
    h2.multiply(0, 5);
    h2.add(0, 0x38495ab5);
    this.#block.fill(0);
  }
}
