// Verifies ECDSA signatures over P-256 (secp256r1). All values are public, so timing does not
// matter.
import { HEX, isMadeOf } from "../text/characters.js";

/** Moduli of field and group, constant B of the curve y² = x³ - 3x + B, and the generator. */
const P = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const B = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;
const G: Point = {
  x: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  y: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n,
  z: 1n,
};
const BITS = 256;
/** Number of bits processed between two pauses. */
const SLICE = 8;

/** x/z², y/z³; z = 0 is the point at infinity. */
export interface Point {
  readonly x: bigint;
  readonly y: bigint;
  readonly z: bigint;
}

export interface Signature {
  readonly r: bigint;
  readonly s: bigint;
}

/**
 * Parses a public key: 04, x and y as 130 hexadecimal digits. Undefined unless it is a point of the
 * curve.
 */
export const toPublicKey = (digits: string): Point | undefined => {
  if (digits.length !== 130 || !digits.startsWith("04") || !isMadeOf(digits, HEX)) return undefined;
  const x = BigInt(`0x${digits.slice(2, 66)}`);
  const y = BigInt(`0x${digits.slice(66)}`);
  if (x >= P || y >= P || modulo(y * y - (x * x * x - 3n * x + B), P) !== 0n) return undefined;
  return { x, y, z: 1n };
};

/**
 * Parses a DER signature, a sequence of two integers, in hexadecimal digits; undefined if invalid.
 */
export const toSignature = (digits: string): Signature | undefined => {
  if (!isMadeOf(digits, HEX)) return undefined;
  const byte = (at: number): number => hex(digits.slice(at, at + 2));
  const end = 8 + 2 * byte(6);
  const first = digits.slice(8, end);
  const last = digits.slice(end + 4);
  const isSequence = byte(0) === 0x30 && digits.length === 4 + 2 * byte(2);
  const isEach = byte(4) === 2 && byte(end) === 2 && last.length === 2 * byte(end + 2);
  if (!isSequence || !isEach) return undefined;
  const r = integer(first);
  const s = integer(last);
  return r > 0n && r < N && s > 0n && s < N ? { r, s } : undefined;
};

/**
 * True if the key signed this SHA-256 (64 hexadecimal digits). Takes long on a board, so `rest` is
 * called between steps.
 */
export async function isSignedBy(
  key: Point,
  digest: string,
  signature: Signature,
  rest: () => Promise<void>,
): Promise<boolean> {
  const { r, s } = signature;
  const inverse = invert(s);
  const u = modulo(BigInt(`0x${digest}`) * inverse, N);
  const v = modulo(r * inverse, N);
  const both = add(G, key);
  let sum: Point = { x: 1n, y: 1n, z: 0n };
  for (let bit = BITS - 1; bit >= 0; bit--) {
    sum = double(sum);
    const at = BigInt(bit);
    const inU = (u >> at) & 1n;
    const inV = (v >> at) & 1n;
    if (inU === 1n) sum = add(sum, inV === 1n ? both : G);
    else if (inV === 1n) sum = add(sum, key);
    if (bit % SLICE === 0) await rest();
  }
  if (sum.z === 0n) return false;
  const zz = modulo(sum.z * sum.z, P);
  // x of the sum, which is below P, was reduced modulo N to r.
  return modulo(r * zz, P) === sum.x || (r + N < P && modulo((r + N) * zz, P) === sum.x);
}

const modulo = (value: bigint, by: bigint): bigint => {
  const rest = value % by;
  return rest < 0n ? rest + by : rest;
};

/** Inverse modulo N, by Euclid's algorithm. */
const invert = (value: bigint): bigint => {
  let a = value;
  let b = N;
  let x = 1n;
  let y = 0n;
  while (b !== 0n) {
    const q = a / b;
    const b1 = a - q * b;
    const y1 = x - q * y;
    a = b;
    b = b1;
    x = y;
    y = y1;
  }
  return modulo(x, N);
};

const double = ({ x, y, z }: Point): Point => {
  const zz = (z * z) % P;
  const yy = (y * y) % P;
  const xyy = (x * yy) % P;
  const slope = modulo(3n * (x - zz) * (x + zz), P);
  const x3 = modulo(slope * slope - 8n * xyy, P);
  return { x: x3, y: modulo(slope * (4n * xyy - x3) - 8n * yy * yy, P), z: (2n * y * z) % P };
};

const add = (a: Point, b: Point): Point => {
  if (a.z === 0n) return b;
  if (b.z === 0n) return a;
  const aa = (a.z * a.z) % P;
  const bb = (b.z * b.z) % P;
  const u = (a.x * bb) % P;
  const s = (((a.y * bb) % P) * b.z) % P;
  const h = modulo(b.x * aa - u, P);
  const r = modulo(((b.y * aa) % P) * a.z - s, P);
  if (h === 0n) return r === 0n ? double(a) : { x: 1n, y: 1n, z: 0n };
  const hh = (h * h) % P;
  const hhh = (h * hh) % P;
  const uhh = (u * hh) % P;
  const x = modulo(r * r - hhh - 2n * uhh, P);
  return { x, y: modulo(r * (uhh - x) - s * hhh, P), z: (((a.z * b.z) % P) * h) % P };
};

const hex = (byte: string): number => Number.parseInt(byte, 16);

/** A DER integer; 0 if it is negative, empty or not minimal. */
const integer = (digits: string): bigint => {
  const first = hex(digits.slice(0, 2));
  if (!(first < 0x80) || digits.length > 66) return 0n;
  if (first === 0 && digits.length > 2 && hex(digits.slice(2, 4)) < 0x80) return 0n;
  return BigInt(`0x${digits}`);
};
