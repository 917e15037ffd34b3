// XS keeps a lone surrogate as three bytes that are no UTF-8.
const LONE = /[\ud800-\udfff]/gu;

export function encode(text: string): Uint8Array {
  return new Uint8Array(ArrayBuffer.fromString(text.replace(LONE, "\ufffd")));
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
