// What the head of an answer says of a file: asked for only where a file is fetched from another server than the platform.
import { decimal, isText, word } from "./bytes.js";

/** Bytes of a line that are looked at then: an address in Location may be long. */
export const FILE_LINE = 2200;
const LONGEST_TAG = 80;
const LOCATION = word("location");
const ETAG = word("etag");
const CONTENT_RANGE = word("content-range");
const UNIT = word("bytes ");
const QUOTE = 0x22;

/** Everything in it is a peer's word. */
export class FileHead {
  status = 0;
  /** The whole body, in bytes; undefined if the peer does not say. */
  length: number | undefined;
  /** Of Location, as it came: printable ASCII, perhaps relative. */
  location: string | undefined;
  /** Of ETag, with its quotes; 80 characters at most. Undefined: none, or a weak one. */
  etag: string | undefined;
  /** Of Content-Range: where the body begins in the file, and how long the file is; -1 where that is not stated. */
  from = -1;
  total = -1;

  clear(): void {
    this.length = undefined;
    this.location = undefined;
    this.etag = undefined;
    this.from = -1;
    this.total = -1;
  }

  /** Takes one header line: its name is `from` to `colon`, its value `value` to `end`. */
  take(bytes: Uint8Array, from: number, colon: number, value: number, end: number): void {
    if (isText(bytes, from, colon, LOCATION)) this.location = asciiText(bytes, value, end);
    else if (isText(bytes, from, colon, ETAG)) this.etag = tagOf(bytes, value, end);
    else if (isText(bytes, from, colon, CONTENT_RANGE)) this._takeRange(bytes, value, end);
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
  const strong =
    to - from >= 2 && to - from <= LONGEST_TAG && bytes[from] === QUOTE && bytes[to - 1] === QUOTE;
  return strong ? asciiText(bytes, from, to) : undefined;
};

/** Undefined if the range holds a blank or anything beyond printable ASCII. */
const asciiText = (bytes: Uint8Array, from: number, to: number): string | undefined => {
  let text = "";
  for (let at = from; at < to; at++) {
    const byte = bytes[at] as number;
    if (byte <= 0x20 || byte >= 0x7f) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
};
