// A byte order mark is a character like any other here: what is decoded must encode to the same bytes.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Short texts share room that Node's buffers have; a `TextEncoder` would make some for each. */
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
