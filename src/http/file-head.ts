// The response head of a file download: the headers that matter only for files.
import { ascii, isMadeOf, VISIBLE } from "../wire/text/characters.js";
import { decimal, isText, textOf } from "./bytes.js";

/** Maximum length of a parsed line, because a Location may be long. */
export const FILE_LINE = 3200;
const MAX_TAG = 80;
const LOCATION = ascii("location");
const ETAG = ascii("etag");
const CONTENT_RANGE = ascii("content-range");
const CONTENT_ENCODING = ascii("content-encoding");
const FILE_NAMES = [LOCATION, ETAG, CONTENT_RANGE, CONTENT_ENCODING];
const IDENTITY = ascii("identity");
const HEX = "0123456789ABCDEF";
const UNIT = ascii("bytes ");
const QUOTE = 0x22;

/** Head of a file download from an external server. All values are untrusted. */
export class FileHead {
  status = 0;
  /** The body has a Content-Encoding, so it is not the file. */
  isCoded = false;
  /** Length of the whole body in bytes; undefined if unknown. */
  length: number | undefined;
  /** Value of Location, may be relative; blanks and bytes beyond ASCII are percent-encoded. */
  location: string | undefined;
  /** A strong ETag with its quotes, at most 80 characters; otherwise undefined. */
  etag: string | undefined;
  /** Content-Range: start of the body in the file, and file length; -1 if unknown. */
  from = -1;
  total = -1;
  /** Name of the last header, if it matters. */
  private _last: Uint8Array | undefined;

  clear(): void {
    this.length = undefined;
    this.isCoded = false;
    this.location = undefined;
    this.etag = undefined;
    this.from = -1;
    this.total = -1;
  }

  /** The last header goes on in the next line, so what was parsed of it is not its value. */
  fold(): void {
    if (this._last === LOCATION) this.location = undefined;
    if (this._last === ETAG) this.etag = undefined;
    if (this._last === CONTENT_RANGE) this.from = this.total = -1;
  }

  /**
   * Parses one header line with its name at `from` to `colon` and its value at `value` to `end`.
   */
  parseLine(bytes: Uint8Array, from: number, colon: number, value: number, end: number): void {
    this._last = FILE_NAMES.find((name) => isText(bytes, from, colon, name));
    if (this._last === LOCATION) this.location = escapedText(bytes, value, end);
    else if (this._last === ETAG) this.etag = tagOf(bytes, value, end);
    else if (this._last === CONTENT_RANGE) this._takeRange(bytes, value, end);
    else if (this._last === CONTENT_ENCODING) this.isCoded ||= !isText(bytes, value, end, IDENTITY);
  }

  /** `bytes 0-1023/4096` */
  private _takeRange(bytes: Uint8Array, from: number, to: number): void {
    if (!isText(bytes, from, from + 6, UNIT)) return;
    const hyphen = bytes.indexOf(0x2d, from);
    const slash = bytes.indexOf(0x2f, from);
    if (hyphen < 0 || slash < hyphen || slash >= to) return;
    this.from = decimal(bytes, from + 6, hyphen);
    this.total = decimal(bytes, slash + 1, to);
  }
}

const tagOf = (bytes: Uint8Array, from: number, to: number): string | undefined => {
  const strong = to - from >= 2 && to - from <= MAX_TAG && bytes[from] === QUOTE && bytes[to - 1] === QUOTE;
  const text = strong ? textOf(bytes, from, to) : "";
  return isMadeOf(text, VISIBLE) ? text : undefined;
};

/** Undefined if the range contains a control character. */
const escapedText = (bytes: Uint8Array, from: number, to: number): string | undefined => {
  let text = "";
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte < 0x20 || byte === 0x7f) return undefined;
    const isPlain = byte > 0x20 && byte < 0x7f;
    text += isPlain ? String.fromCharCode(byte) : `%${HEX.charAt(byte >> 4)}${HEX.charAt(byte & 15)}`;
  }
  return text;
};
