// Bytes as lower-case hexadecimal digits, and back from either case.

const DIGITS = "0123456789abcdef";
const PAIRS = /^(?:[0-9a-f]{2})*$/i;

export function toHex(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    text += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
  }
  return text;
}

/** The bytes, or undefined if the text is not made of pairs of hexadecimal digits. For short texts. */
export function fromHex(text: string): Uint8Array | undefined {
  if (!PAIRS.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}
