// Lower-case hexadecimal digits.

const DIGITS = "0123456789abcdef";

export const toHex = (bytes: Uint8Array): string => {
  let text = "";
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number;
    text += DIGITS.charAt(byte >> 4) + DIGITS.charAt(byte & 15);
  }
  return text;
};

/** The bytes of hexadecimal digits, two each. */
export const fromHex = (digits: string): Uint8Array => {
  const bytes = new Uint8Array(digits.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return bytes;
};
