// The seven checksums of an OTA package, as lower-case hex of the hash's bytes in the order the
// platform writes them:
// CRC32 and MURMUR3 are little-endian. Murmur has seed 0; the 128-bit one is the x64 variant.

import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";

export const ALGORITHMS = [
  "MD5",
  "SHA256",
  "SHA384",
  "SHA512",
  "CRC32",
  "MURMUR3_32",
  "MURMUR3_128",
] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export function checksum(algorithm: Algorithm, bytes: Uint8Array): string {
  if (algorithm === "CRC32") return little(BigInt(crc32(bytes)), 4);
  if (algorithm === "MURMUR3_32") return little(BigInt(murmur32(bytes)), 4);
  if (algorithm === "MURMUR3_128") return murmur128(bytes);
  return createHash(algorithm.toLowerCase()).update(bytes).digest("hex");
}

function little(value: bigint, bytes: number): string {
  return Buffer.from(value.toString(16).padStart(bytes * 2, "0"), "hex")
    .reverse()
    .toString("hex");
}

function murmur32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length & ~3;
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash ^= scramble32(view.getUint32(at, true));
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= whole; at--) tail = (tail << 8) | (bytes[at] as number);
  if (whole < bytes.length) hash ^= scramble32(tail);
  hash ^= bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function scramble32(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

const C1 = 0x87c37b91114253d5n;
const C2 = 0x4cf5ad432745937fn;
const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);
const rotate = (value: bigint, by: bigint): bigint => u64(value << by) | (value >> (64n - by));
const scrambleLow = (word: bigint): bigint => u64(rotate(u64(word * C1), 31n) * C2);
const scrambleHigh = (word: bigint): bigint => u64(rotate(u64(word * C2), 33n) * C1);

function murmur128(bytes: Uint8Array): string {
  const blocks = bytes.length >> 4;
  // The last block is filled up with zeros, which scramble to nothing.
  const padded = new Uint8Array(16);
  padded.set(bytes.subarray(blocks * 16));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rest = new DataView(padded.buffer);
  let low = 0n;
  let high = 0n;
  for (let block = 0; block < blocks; block++) {
    low = rotate(low ^ scrambleLow(view.getBigUint64(block * 16, true)), 27n);
    low = u64(u64(low + high) * 5n + 0x52dce729n);
    high = rotate(high ^ scrambleHigh(view.getBigUint64(block * 16 + 8, true)), 31n);
    high = u64(u64(high + low) * 5n + 0x38495ab5n);
  }
  high ^= scrambleHigh(rest.getBigUint64(8, true));
  low ^= scrambleLow(rest.getBigUint64(0, true));
  const length = BigInt(bytes.length);
  low = u64((low ^ length) + (high ^ length));
  high = u64((high ^ length) + low);
  low = finish(low);
  high = finish(high);
  low = u64(low + high);
  high = u64(high + low);
  return little(low, 8) + little(high, 8);
}

function finish(value: bigint): bigint {
  let mixed = u64((value ^ (value >> 33n)) * 0xff51afd7ed558ccdn);
  mixed = u64((mixed ^ (mixed >> 33n)) * 0xc4ceb9fe1a85ec53n);
  return mixed ^ (mixed >> 33n);
}
