/** XS encodes half of a surrogate pair as three bytes of invalid UTF-8. */
export const encode = (text: string): Uint8Array => {
  const bytes = new Uint8Array(ArrayBuffer.fromString(text));
  // Usually all is ASCII, which comparing two native lengths shows.
  if (bytes.length === text.length || !holdsHalf(bytes)) return bytes;
  let mended = "";
  for (const char of text) {
    const code = char.codePointAt(0) as number;
    mended += code >= 0xd800 && code <= 0xdfff ? "\ufffd" : char;
  }
  return new Uint8Array(ArrayBuffer.fromString(mended));
};

/**
 * Decodes whole buffers only, like the SDK. The SDK throws on truncated characters but not on
 * overlong or impossible ones, so those are searched byte by byte, which is slow on a board, if
 * there is non-ASCII text.
 */
export const decode = (bytes: Uint8Array): string | undefined => {
  const { byteOffset, byteLength } = bytes;
  const buffer = bytes.buffer as ArrayBuffer;
  const whole = byteLength === buffer.byteLength;
  try {
    const text = String.fromArrayBuffer(whole ? buffer : buffer.slice(byteOffset, byteOffset + byteLength));
    // Every other character has fewer code units than bytes.
    return text.length === byteLength || isUtf8(bytes) ? text : undefined;
  } catch {
    return undefined;
  }
};

/**
 * Finds invalid UTF-8 that the SDK accepts: impossible first bytes, or second bytes that their
 * first does not allow. One pass is faster than `includes`.
 */
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

/** First bytes that restrict the range of the second. */
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
