import { createHash, createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";
import { crc32 as crcOfNode } from "node:zlib";
import test from "ava";
import fc from "fast-check";
import { isChecksum, sameChecksum, toAlgorithm } from "../../../src/wire/crypto/checksum.js";
import { crc32 } from "../../../src/wire/crypto/crc32.js";
import { isSignedBy, toPublicKey, toSignature } from "../../../src/wire/crypto/p256.js";
import { ascii } from "./support.js";

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

test("an algorithm is known by its name in any case, and its checksum by its length", (t) => {
  t.is(toAlgorithm("Sha512"), "SHA512");
  for (const name of ["SHA1", "", "__proto__", "SHA-256", "CRC32", "MURMUR3_32", "MURMUR3_128"])
    t.is(toAlgorithm(name), undefined);
  const md5 = "5D41402ABC4B2A76B9719D911017C592";
  t.true(isChecksum("MD5", md5));
  for (const text of [md5.slice(1), `${md5}0`, `${md5.slice(1)}g`, ""])
    t.false(isChecksum("MD5", text), text);
  t.true(sameChecksum("86A61036", "86a61036"));
  t.false(sameChecksum("86a61036", "86a61037"));
});

const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
// RFC 6979, A.2.5: the key, and its signatures with SHA-256.
const KEY =
  "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299";
const SIGNED = [
  [
    "sample",
    0xefd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716n,
    0xf7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8n,
  ],
  [
    "test",
    0xf1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367n,
    0x019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083n,
  ],
] as const;

const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");

function integer(value: bigint): string {
  const digits = value.toString(16);
  const even = digits.length % 2 === 0 ? digits : `0${digits}`;
  const bytes = Number.parseInt(even.slice(0, 2), 16) >= 0x80 ? `00${even}` : even;
  return `02${(bytes.length / 2).toString(16).padStart(2, "0")}${bytes}`;
}

function der(r: bigint, s: bigint): string {
  const body = integer(r) + integer(s);
  return `30${(body.length / 2).toString(16).padStart(2, "0")}${body}`;
}

async function holds(
  key: string,
  digest: string,
  signature: string,
  rest = async () => {},
): Promise<boolean> {
  const [point, pair] = [toPublicKey(key), toSignature(signature)];
  return point !== undefined && pair !== undefined && isSignedBy(point, digest, pair, rest);
}

test("the signatures of RFC 6979 hold, and with s negated too, as ECDSA has it", async (t) => {
  for (const [text, r, s] of SIGNED) {
    t.true(await holds(KEY, sha256(text), der(r, s)));
    t.true(await holds(KEY, sha256(text), der(r, N - s)));
    t.true(await holds(KEY.toUpperCase(), sha256(text), der(r, s).toUpperCase()));
    t.false(await holds(KEY, sha256(`${text} `), der(r, s)));
    t.false(await holds(KEY, sha256(text), der(s, r)));
    t.false(await holds(KEY, sha256(text), der(r, s - 1n)));
  }
});

test("random keys, images and signatures are judged as openssl judges them", async (t) => {
  for (let i = 0; i < 40; i++) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const spki = publicKey.export({ type: "spki", format: "der" });
    const key = spki.subarray(-65).toString("hex");
    const image = Buffer.alloc(i, i);
    const good = sign("sha256", image, privateKey);
    t.true(await holds(key, sha256(image), good.toString("hex")));
    const bad = Buffer.from(good);
    const at = 4 + (i % 20);
    bad[at] = (bad[at] as number) ^ (1 << (i % 8));
    const theirs = verify("sha256", image, createPublicKey({ key: spki, format: "der", type: "spki" }), bad);
    t.is(await holds(key, sha256(image), bad.toString("hex")), theirs, bad.toString("hex"));
  }
});

test("the work lets others in between", async (t) => {
  const [text, r, s] = SIGNED[0];
  let rests = 0;
  t.true(await holds(KEY, sha256(text), der(r, s), async () => void rests++));
  t.is(rests, 32);
});

test("r and s of 0, of the group's order and beyond are no signature", (t) => {
  const [, r, s] = SIGNED[0];
  for (const wrong of [0n, N, N + 1n, P, 2n ** 256n - 1n]) {
    t.is(toSignature(der(wrong, s)), undefined);
    t.is(toSignature(der(r, wrong)), undefined);
  }
  t.deepEqual(toSignature(der(1n, N - 1n)), { r: 1n, s: N - 1n });
});

test("a sum at infinity is not a signature, not even with the generator as key", async (t) => {
  const x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
  const y = 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n;
  for (const key of [`04${x}${y.toString(16)}`, `04${x}${(P - y).toString(16)}`]) {
    // u + v and u - v are 0 for these: no point has such an x.
    t.false(await holds(key, 1n.toString(16).padStart(64, "0"), der(1n, 1n)));
    t.false(await holds(key, (N - 1n).toString(16).padStart(64, "0"), der(1n, 1n)));
  }
});

test("what is not DER to the letter is no signature", (t) => {
  const [, r, s] = SIGNED[1];
  const good = der(r, s);
  t.truthy(toSignature(good));
  const wrong = [
    ...["", "30", good.slice(0, -2), `${good}00`, `31${good.slice(2)}`, `${good.slice(0, -1)}g`],
    ...[good.replace(/^30../, "3081"), good.replace("0221", "0222"), good.replace("022100", "0220")],
    ...["3006020101020100", "300702020001020101", "3003020101", "30050201010201", "3006020181020101"],
    ...[`30${"02".repeat(40)}`, "x".repeat(10_000)],
  ];
  for (const text of wrong) t.is(toSignature(text), undefined, text.slice(0, 40));
});

test("what is no point of the curve is no key", (t) => {
  t.truthy(toPublicKey(KEY));
  const flipped = `${KEY.slice(0, -1)}${KEY.endsWith("9") ? "8" : "9"}`;
  for (const wrong of [
    ...["", KEY.slice(2), `02${KEY.slice(2, 66)}`, flipped, `${KEY}00`, `${KEY.slice(0, -1)}g`],
    ...[`04${"0".repeat(128)}`, `04${"f".repeat(128)}`],
  ])
    t.is(toPublicKey(wrong), undefined, wrong.slice(0, 20));
});
