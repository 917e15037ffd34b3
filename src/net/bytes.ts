// Reading short ASCII texts where they lie: no string is made for what is only compared. Every range is `from` to `to`, exclusive.

const SPACE = 0x20;
const TAB = 0x09;

/** True for a space or a tab. */
export function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB;
}

/** The first position that holds no blank. */
export function skipBlanks(bytes: Uint8Array, from: number, to: number): number {
  while (from < to && isBlank(bytes[from])) from++;
  return from;
}

/** The end of the range without the blanks at its end. */
export function trimBlanks(bytes: Uint8Array, from: number, to: number): number {
  while (to > from && isBlank(bytes[to - 1])) to--;
  return to;
}

/** True if the range is this text, whatever the case of its letters. `text` is ASCII in lower case. */
export function isText(bytes: Uint8Array, from: number, to: number, text: string): boolean {
  if (to - from !== text.length) return false;
  for (let i = 0; i < text.length; i++) {
    let byte = bytes[from + i] as number;
    if (byte >= 0x41 && byte <= 0x5a) byte += 0x20;
    if (byte !== text.charCodeAt(i)) return false;
  }
  return true;
}

/** The number written in decimal digits, or -1 if the range holds anything else, nothing, or more than 15 digits. */
export function decimal(bytes: Uint8Array, from: number, to: number): number {
  if (from >= to || to - from > 15) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = (bytes[at] as number) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

/** The value of a hexadecimal digit, or -1. */
export function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
