/** XS keeps half of a surrogate pair as three bytes that are no UTF-8. */
export const encode = (text: string): Uint8Array => {
  const bytes = new Uint8Array(ArrayBuffer.fromString(text));
  // Mostly all is ASCII, as the two lengths say natively.
  if (bytes.length === text.length || !holdsHalf(bytes)) return bytes;
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

/** What the SDK takes and is no UTF-8: a first byte that there is not, or a second one that its first does not allow. One pass: `includes` takes longer. */
const isUtf8 = (bytes: Uint8Array): boolean => {
  const { length } = bytes;
  for (let at = 0; at < length; at++) {
    const first = bytes[at] as number;
    if (first < 0xc0) continue;
    if (first < 0xc2 || first > 0xf4) return false;
    const second = bytes[at + 1] as number;
    if (SECOND.some(([of, least, most]) => first === of && !(second >= least && second <= most)))
      return false;
  }
  return true;
};

/** First bytes after which the second one has a range of its own. */
const SECOND = [
  [0xe0, 0xa0, 0xbf],
  [0xed, 0x80, 0x9f],
  [0xf0, 0x90, 0xbf],
  [0xf4, 0x80, 0x8f],
] as const;

const holdsHalf = (bytes: Uint8Array): boolean => {
  const { length } = bytes;
  for (let at = 0; at < length; at++) if (bytes[at] === 0xed && (bytes[at + 1] as number) > 0x9f) return true;
  return false;
};
