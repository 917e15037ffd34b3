// Keep a byte order mark as a character: decoded text must encode to the same bytes.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Node's buffers share memory for short texts; a `TextEncoder` allocates for each. */
export function encode(text: string): Uint8Array {
  const { buffer, byteOffset, length } = Buffer.from(text);
  return new Uint8Array(buffer, byteOffset, length);
}

export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
