const encoder = new TextEncoder();
// A byte order mark is a character like any other here: what is decoded must encode to the same bytes.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export const encode = (text: string): Uint8Array => encoder.encode(text);

export function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}
