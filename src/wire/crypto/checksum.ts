// Firmware checksums as the platform writes them: lower-case hexadecimal digits of the digest's
// bytes. The platform's CRC32 and MURMUR3 detect no attack, so a device refuses them.

import { HEX, isMadeOf, lowerCase, upperCase } from "../text/characters.js";

/** The number of hexadecimal digits of each algorithm. */
const DIGITS = {
  MD5: 32,
  SHA256: 64,
  SHA384: 96,
  SHA512: 128,
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
