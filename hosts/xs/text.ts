/** XS keeps half of a surrogate pair as three bytes that are no UTF-8. */
export const encode = (text: string): Uint8Array => {
  const bytes = new Uint8Array(ArrayBuffer.fromString(text));
  if (!holdsOutside(bytes, SURROGATE)) return bytes;
  let mended = "";
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    mended += code >= 0xd800 && code <= 0xdfff ? "\ufffd" : char;
  }
  return new Uint8Array(ArrayBuffer.fromString(mended));
};

/**
 * The SDK takes whole buffers only. It throws on a character that is cut, but not on one that is written too long, or that there is not: those are looked
 * for byte by byte, which takes the engine of a board far longer, where there is one that is no ASCII.
 */
export const decode = (bytes: Uint8Array): string | undefined => {
  const { byteOffset, byteLength } = bytes;
  const buffer = bytes.buffer as ArrayBuffer;
  const whole = byteLength === buffer.byteLength;
  try {
    const text = String.fromArrayBuffer(whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength));
    // Of all else a character is fewer code units than bytes.
    return text.length === byteLength || isUtf8(bytes) ? text : undefined;
  } catch {
    return undefined;
  }
};

const isUtf8 = (bytes: Uint8Array): boolean =>
  !NEVER.some((byte) => bytes.includes(byte)) && !SECOND.some((range) => holdsOutside(bytes, range));

/** Bytes that no UTF-8 has, as far as the SDK takes them. */
const NEVER = [0xc0, 0xc1, 0xf5, 0xf6, 0xf7] as const;
const SURROGATE = [0xed, 0x80, 0x9f] as const;
/** First bytes after which the second one has a range of its own. */
const SECOND = [[0xe0, 0xa0, 0xbf], SURROGATE, [0xf0, 0x90, 0xbf], [0xf4, 0x80, 0x8f]] as const;

const holdsOutside = (
  bytes: Uint8Array,
  [first, least, most]: readonly [number, number, number],
): boolean => {
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    const second = bytes[at + 1];
    if (second === undefined || second < least || second > most) return true;
  }
  return false;
};
