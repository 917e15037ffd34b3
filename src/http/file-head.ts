// The response head of a file download: the headers that matter only for files.
import { isMadeOf, isSameName, VISIBLE } from "../wire/text/characters.js";
import { decimal, type Head } from "./head.js";

const MAX_LOCATION = 3200;
const MAX_TAG = 80;
const UNIT = "bytes ";
const HEX = "0123456789ABCDEF";

/** Head of a file download from an external server. All values are untrusted. */
export interface FileHead {
  readonly status: number;
  /** The body has a Content-Encoding, so it is not the file. */
  readonly isCoded: boolean;
  /** Length of the whole body in bytes; undefined if unknown. */
  readonly length: number | undefined;
  /** Value of Location, may be relative; blanks and bytes beyond ASCII are percent-encoded. */
  readonly location: string | undefined;
  /** A strong ETag with its quotes, at most 80 characters; otherwise undefined. */
  readonly etag: string | undefined;
  /** Content-Range: start of the body in the file, and file length; -1 if unknown. */
  readonly from: number;
  readonly total: number;
}

export const toFileHead = ({ status, length, fields }: Head): FileHead => {
  const range = fields["Content-Range"] ?? "";
  const tag = fields.ETag ?? "";
  const isStrong = tag.length > 1 && tag.length <= MAX_TAG && tag.startsWith('"') && tag.endsWith('"');
  return {
    status,
    isCoded: !isSameName(fields["Content-Encoding"] ?? "identity", "identity"),
    length,
    location: escapedLocation(fields.Location),
    etag: isStrong && isMadeOf(tag, VISIBLE) ? tag : undefined,
    // bytes 0-1023/4096
    from: range.startsWith(UNIT) ? decimal(range.slice(UNIT.length, range.indexOf("-"))) : -1,
    total: decimal(range.slice(range.indexOf("/") + 1)),
  };
};

/** Each character of a head stands for a byte. Undefined with a control character. */
const escapedLocation = (text: string | undefined): string | undefined => {
  if (text === undefined || text.length > MAX_LOCATION || isMadeOf(text, VISIBLE))
    return text && text.length <= MAX_LOCATION ? text : undefined;
  let escaped = "";
  for (const char of text) {
    const byte = char.charCodeAt(0);
    if (byte < 0x20 || byte === 0x7f) return undefined;
    escaped += byte > 0x20 && byte < 0x7f ? char : `%${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`;
  }
  return escaped;
};
