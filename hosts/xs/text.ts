// XS keeps a lone surrogate as three bytes that are no UTF-8. (No global expression: it would lie in ROM, where it can't count.)
const LONE = /[\ud800-\udfff]/u;

export function encode(text: string): Uint8Array {
  let mended = text;
  if (LONE.test(text)) {
    mended = "";
    for (const char of text) mended += LONE.test(char) ? "\ufffd" : char;
  }
  return new Uint8Array(ArrayBuffer.fromString(mended));
}

/** The SDK takes whole buffers only, and throws on what is no UTF-8: a character cut in two, too. */
export function decode(bytes: Uint8Array): string | undefined {
  const { byteOffset, byteLength } = bytes;
  const buffer = bytes.buffer as ArrayBuffer;
  const whole = byteLength === buffer.byteLength;
  try {
    return String.fromArrayBuffer(whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength));
  } catch {
    return undefined;
  }
}
