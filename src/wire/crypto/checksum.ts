// Checksums of firmware as the platform names and writes them: hexadecimal digits of the digest's bytes, lower case for its own packages.

import type { Digest } from "../../port.js";
import { HEX, isMadeOf, lowerCase, upperCase } from "../text/characters.js";
import { Crc32 } from "./crc32.js";
import { Murmur32 } from "./murmur3.js";
import { Murmur128 } from "./murmur128.js";

/** Each algorithm and the digits of its checksum. */
const DIGITS = {
  MD5: 32,
  SHA256: 64,
  SHA384: 96,
  SHA512: 128,
  CRC32: 8,
  MURMUR3_32: 8,
  MURMUR3_128: 32,
} as const;
export type Algorithm = keyof typeof DIGITS;

/** The algorithm of that name in any case, or undefined. */
export const toAlgorithm = (name: string): Algorithm | undefined => {
  const upper = upperCase(name);
  return Object.hasOwn(DIGITS, upper) ? (upper as Algorithm) : undefined;
};

/** True if the text can be a checksum of that algorithm. */
export const isChecksum = (algorithm: Algorithm, text: string): boolean => {
  return text.length === DIGITS[algorithm] && isMadeOf(text, HEX);
};

/** Compares without regard to case. */
export const sameChecksum = (a: string, b: string): boolean => {
  return lowerCase(a) === lowerCase(b);
};

/** A digest of any of the seven: the small ones from here, the others from the host (undefined if it lacks one). */
export const openDigest = (
  algorithm: Algorithm,
  ofHost: (algorithm: string) => Digest | undefined,
): Digest | undefined => {
  switch (algorithm) {
    case "CRC32":
      return new Crc32();
    case "MURMUR3_32":
      return new Murmur32();
    case "MURMUR3_128":
      return new Murmur128();
    default:
      return ofHost(algorithm);
  }
};
