// Reads short ASCII texts in place, without creating strings for comparisons. Ranges exclude `to`.
import type { ByteLoops } from "../port.js";

const SPACE = 0x20;
const TAB = 0x09;

/** True for a space or a tab. */
export const isBlank = (byte: number | undefined): boolean => {
  return byte === SPACE || byte === TAB;
};

/**
 * Position of the first `byte`; `to` if there is none. By the machine's own loop if it has one,
 * because the engine's `indexOf` takes twice as long as this one.
 */
export const find = (
  bytes: Uint8Array,
  from: number,
  to: number,
  byte: number,
  loops: ByteLoops | undefined,
): number => {
  if (loops) return loops.find(bytes, from, to, byte);
  while (from < to && bytes[from] !== byte) from++;
  return from;
};

/** Position of the first byte that is not a blank. */
export const skipBlanks = (bytes: Uint8Array, from: number, to: number): number => {
  while (from < to && isBlank(bytes[from])) from++;
  return from;
};

/** End of the range without trailing blanks. */
export const trimBlanks = (bytes: Uint8Array, from: number, to: number): number => {
  while (to > from && isBlank(bytes[to - 1])) to--;
  return to;
};

/** The bytes `from` to `to` as characters with these codes. Keep the range short. */
export const textOf = (bytes: Uint8Array, from: number, to: number): string => {
  let text = "";
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
};

/** True if the range equals this word, ignoring case. */
export const isText = (bytes: Uint8Array, from: number, to: number, lower: Uint8Array): boolean => {
  const length = to - from;
  if (length !== lower.length) return false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[from + i] as number;
    const wanted = lower[i] as number;
    if (byte !== wanted && (byte + 0x20 !== wanted || wanted < 0x61 || wanted > 0x7a)) return false;
  }
  return true;
};

/** The decimal number in the range; -1 if it is not one or has more than 15 digits. */
export const decimal = (bytes: Uint8Array, from: number, to: number): number => {
  if (from >= to || to - from > 15) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
};

/** The value of a hexadecimal digit, or -1. */
export const hexDigit = (byte: number): number => {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
};
