// Firmware checksums as the platform writes them: lower-case hexadecimal digits of the digest's
// bytes.

import type { Digest } from "../../port.js";
import { HEX, isMadeOf, lowerCase, upperCase } from "../text/characters.js";
import { Crc32 } from "./crc32.js";
import { Murmur32 } from "./murmur32.js";
import { Murmur128 } from "./murmur128.js";

/** The number of hexadecimal digits of each algorithm. */
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

/** The algorithm with that name, ignoring case; undefined if unknown. */
export const toAlgorithm = (name: string): Algorithm | undefined => {
  const upper = upperCase(name);
  return Object.hasOwn(DIGITS, upper) ? (upper as Algorithm) : undefined;
};

/** True if the text has the form of a checksum of that algorithm. */
export const isChecksum = (algorithm: Algorithm, text: string): boolean => {
  return text.length === DIGITS[algorithm] && isMadeOf(text, HEX);
};

/** Compares checksums, ignoring case. */
export const sameChecksum = (a: string, b: string): boolean => {
  return lowerCase(a) === lowerCase(b);
};

/**
 * Opens a digest: the small ones are implemented here, others by the host (undefined if
 * unsupported).
 */
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
