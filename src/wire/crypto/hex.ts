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
