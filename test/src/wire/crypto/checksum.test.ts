import { crc32 as crcOfNode } from "node:zlib";
import test from "ava";
import fc from "fast-check";
import type { Digest } from "../../../../src/port.js";
import {
  type Algorithm,
  isChecksum,
  openDigest,
  sameChecksum,
  toAlgorithm,
} from "../../../../src/wire/crypto/checksum.js";
import { crc32 } from "../../../../src/wire/crypto/crc32.js";
import { toHex } from "../../../../src/wire/crypto/hex.js";
import { ascii } from "../support.js";

const open = (algorithm: Algorithm): Digest => openDigest(algorithm, () => undefined) as Digest;

function hexOf(algorithm: Algorithm, ...parts: Uint8Array[]): string {
  const digest = open(algorithm);
  for (const part of parts) digest.write(part);
  return toHex(digest.close());
}

const SMALL = ["CRC32", "MURMUR3_32", "MURMUR3_128"] as const;

test("the digests are the platform's, byte order and all", (t) => {
  t.is(hexOf("CRC32", ascii("hello")), "86a61036");
  t.is(hexOf("MURMUR3_32", ascii("hello")), "47fa8b24");
  t.is(hexOf("MURMUR3_128", ascii("hello")), "029bbd41b3a7d8cb191dae486a901e5b");
  t.is(hexOf("CRC32", ascii("123456789")), "2639f4cb");
  t.is(hexOf("MURMUR3_32", ascii("123456789")), "82f3feb4");
  t.is(hexOf("MURMUR3_128", ascii("123456789")), "a4cc66db5e64843c05a11e3ac7faf899");
});

test("a digest is the same in whatever pieces the bytes come", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200, size: "max" }), fc.nat(200), fc.nat(200), (bytes, a, b) => {
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      const parts = [bytes.subarray(0, first), bytes.subarray(first, last), bytes.subarray(last)];
      return SMALL.every((algorithm) => hexOf(algorithm, bytes) === hexOf(algorithm, ...parts));
    }),
  );
  t.pass();
});

/** MurmurHash3 x64 128 once more, in BigInt and straight from its definition. */
function murmur128(bytes: Uint8Array): string {
  const cut = (value: bigint): bigint => BigInt.asUintN(64, value);
  const rotate = (value: bigint, by: bigint): bigint => cut((value << by) | (value >> (64n - by)));
  const [c1, c2] = [0x87c37b91114253d5n, 0x4cf5ad432745937fn];
  const mix = (value: bigint): bigint => {
    let mixed = value ^ (value >> 33n);
    mixed = cut(mixed * 0xff51afd7ed558ccdn);
    mixed ^= mixed >> 33n;
    mixed = cut(mixed * 0xc4ceb9fe1a85ec53n);
    return mixed ^ (mixed >> 33n);
  };
  const padded = Buffer.alloc(Math.ceil(bytes.length / 16) * 16);
  padded.set(bytes);
  let [h1, h2] = [0n, 0n];
  for (let at = 0; at < padded.length; at += 16) {
    const whole = at + 16 <= bytes.length;
    h1 ^= cut(rotate(cut(padded.readBigUInt64LE(at) * c1), 31n) * c2);
    if (whole) h1 = cut(cut(rotate(h1, 27n) + h2) * 5n + 0x52dce729n);
    h2 ^= cut(rotate(cut(padded.readBigUInt64LE(at + 8) * c2), 33n) * c1);
    if (whole) h2 = cut(cut(rotate(h2, 31n) + h1) * 5n + 0x38495ab5n);
  }
  h1 ^= BigInt(bytes.length);
  h2 ^= BigInt(bytes.length);
  h1 = cut(h1 + h2);
  h2 = cut(h2 + h1);
  h1 = mix(h1);
  h2 = mix(h2);
  h1 = cut(h1 + h2);
  h2 = cut(h2 + h1);
  const out = Buffer.alloc(16);
  out.writeBigUInt64LE(h1, 0);
  out.writeBigUInt64LE(h2, 8);
  return out.toString("hex");
}

test("the 128 bits of murmur agree with a second way of computing them", (t) => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 100, size: "max" }),
      (bytes) => hexOf("MURMUR3_128", bytes) === murmur128(bytes),
    ),
    { numRuns: 1000 },
  );
  t.pass();
});

test("a CRC goes on from the one before it, over any part of the bytes", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100, size: "max" }), fc.nat(100), (bytes, cut) => {
      const at = Math.min(cut, bytes.length);
      const expected = crcOfNode(bytes);
      return crc32(bytes) === expected && crc32(bytes, at, bytes.length, crc32(bytes, 0, at)) === expected;
    }),
  );
  t.is(crc32(ascii("hello")), 0x3610a686);
});

test("the host's algorithms come from the host", (t) => {
  const asked: string[] = [];
  const none = (algorithm: string): undefined => {
    asked.push(algorithm);
  };
  for (const algorithm of ["MD5", "SHA256", "SHA384", "SHA512"] as const)
    t.is(openDigest(algorithm, none), undefined);
  t.deepEqual(asked, ["MD5", "SHA256", "SHA384", "SHA512"]);
});

test("an algorithm is known by its name in any case, and its checksum by its length", (t) => {
  t.is(toAlgorithm("sha256"), "SHA256");
  t.is(toAlgorithm("Murmur3_128"), "MURMUR3_128");
  for (const name of ["SHA1", "", "toString", "__proto__", "SHA-256"]) t.is(toAlgorithm(name), undefined);
  t.true(isChecksum("CRC32", "86A61036"));
  for (const text of ["86a6103", "86a610366", "86a6103g", " 86a61036", ""])
    t.false(isChecksum("CRC32", text), text);
});

test("checksums are compared without regard to case", (t) => {
  t.true(sameChecksum("86A61036", "86a61036"));
  t.false(sameChecksum("86a61036", "86a61037"));
});

test("bytes become lower-case hexadecimal digits", (t) => {
  t.is(toHex(Uint8Array.of(0, 9, 160, 255)), "0009a0ff");
});
