// The head of an answer: what the agent needs of it, read from the lines where they lie. Every other header is skipped.
// Content-Type is not among them: the platform labels plain text as JSON and sends JSON without a label.
import { decimal, find, isBlank, isText, skipBlanks, trimBlanks, word } from "./bytes.js";
import { parseDate } from "./date.js";

/** Bytes of a line that are looked at. A header that matters is never longer. */
export const LINE = 160;
/** The same where a file is fetched: an address in Location may be long. */
export const FILE_LINE = 2200;
const LONGEST_TAG = 80;
const LOCATION = word("location");
const ETAG = word("etag");
const CONTENT_RANGE = word("content-range");
const UNIT = word("bytes ");
const QUOTE = 0x22;

/** Where the body ends: there is none; after `length` bytes; with the last chunk; with the connection. */
export type Framing = "none" | "length" | "chunked" | "close";

/** The headers that matter, by the lengths of their names: no two are of one length, and few others are of these. */
const DATE = 4;
const CONNECTION = 10;
const RETRY_AFTER = 11;
const CONTENT_LENGTH = 14;
const TRANSFER_ENCODING = 17;
const ALL = ["date", "connection", "retry-after", "content-length", "transfer-encoding"];
const NAMES = Array.from({ length: TRANSFER_ENCODING + 1 }, (_, length) => {
  const name = ALL.find((one) => one.length === length);
  return name === undefined ? undefined : word(name);
});
const HTTP = word("http/");
const CHUNKED = word("chunked");
const CLOSE = word("close");
const KEEP_ALIVE = word("keep-alive");
const COLON = 0x3a;
const COMMA = 0x2c;
const DOT = 0x2e;
/** A platform that asks for more is asked again sooner. */
const LONGEST_WAIT_MS = 3_600_000;

export class Head {
  status = 0;
  /** Of Content-Length; -1 if there was none. */
  length = -1;
  chunked = false;
  /** Of the Date header, ms since 1970. */
  date: number | undefined;
  /** Called with the lines that are of interest only for a file. */
  file: FileHead | undefined;
  private _retryMs: number | undefined;
  private _retryDate: number | undefined;
  /** HTTP/1.0 closes unless it says otherwise. */
  private _old = false;
  /** What the peer says of the connection; that it closes it goes before all else. */
  private _keep: boolean | undefined;

  /** Forgets all but the status: before each head, also after a 1xx. */
  clear(): void {
    this.length = -1;
    this.chunked = false;
    this.date = undefined;
    this.file?.clear();
    this._retryMs = undefined;
    this._retryDate = undefined;
    this._keep = undefined;
  }

  /** Takes `HTTP/1.1 200 OK`; the reason phrase, and the blank before it, may be missing. Returns what is wrong. */
  takeStatus(bytes: Uint8Array, from: number, to: number): string | undefined {
    const digits = from + 9;
    const version =
      isText(bytes, from, from + 5, HTTP) && bytes[from + 5] === 0x31 && bytes[from + 6] === DOT;
    const minor = decimal(bytes, from + 7, from + 8);
    if (to < digits + 3 || !version || minor < 0 || bytes[from + 8] !== 0x20) return "not HTTP/1";
    this.status = decimal(bytes, digits, digits + 3);
    if (this.status < 100 || this.status > 599) return "bad status";
    if (to > digits + 3 && bytes[digits + 3] !== 0x20) return "bad status";
    this._old = minor === 0;
    return this.status === 101 ? "protocol switched" : undefined;
  }

  /** Takes one header line, `cut` if it was longer than LINE. Returns what is wrong. */
  takeField(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    if (isBlank(bytes[from])) return "folded header";
    const colon = find(bytes, from, to, COLON);
    // A blank before the colon is how one header is passed off as another.
    if (colon === from || colon === to || isBlank(bytes[colon - 1])) return "bad header";
    const name = NAMES[colon - from];
    const known = name !== undefined && isText(bytes, from, colon, name);
    if (!known && !this.file) return undefined;
    const value = skipBlanks(bytes, colon + 1, to);
    const end = trimBlanks(bytes, value, to);
    if (!cut) this.file?.take(bytes, from, colon, value, end);
    switch (known ? colon - from : 0) {
      case CONTENT_LENGTH:
        return this._takeLength(bytes, value, end, cut);
      case TRANSFER_ENCODING:
        return this._takeCoding(bytes, value, end, cut);
      case CONNECTION:
        this._takeConnection(bytes, value, end, cut);
        return undefined;
      case DATE:
        this.date = parseDate(bytes, value, end);
        return undefined;
      case RETRY_AFTER:
        this._takeRetry(bytes, value, end);
        return undefined;
      default:
        return undefined;
    }
  }

  /** Returns what is wrong with the head as a whole. */
  problem(): string | undefined {
    if (this.chunked && this.length >= 0) return "both length and chunks";
    if (this.chunked && this._old) return "chunks in HTTP/1.0";
    return undefined;
  }

  get framing(): Framing {
    if (this.status < 200 || this.status === 204 || this.status === 304) return "none";
    if (this.chunked) return "chunked";
    if (this.length === 0) return "none";
    return this.length > 0 ? "length" : "close";
  }

  /**
   * True if another request may follow on the connection. Not after an answer that has no body by its status: some servers send one all the
   * same, and what comes late would be read as the next answer.
   */
  get keeps(): boolean {
    return this.status !== 204 && this.status !== 304 && (this._keep ?? !this._old);
  }

  /** What Retry-After asks for, 1 h at most. A date there counts from the answer's own Date. */
  get retryAfterMs(): number | undefined {
    let ms = this._retryMs;
    if (this._retryDate !== undefined && this.date !== undefined) ms = this._retryDate - this.date;
    return ms === undefined ? undefined : Math.min(Math.max(0, ms), LONGEST_WAIT_MS);
  }

  private _takeLength(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    const length = cut ? -1 : decimal(bytes, from, to);
    if (length < 0) return "bad Content-Length";
    if (this.length >= 0 && this.length !== length) return "two lengths";
    this.length = length;
    return undefined;
  }

  private _takeCoding(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    if (cut || this.chunked || !isText(bytes, from, to, CHUNKED)) return "unknown Transfer-Encoding";
    this.chunked = true;
    return undefined;
  }

  private _takeConnection(bytes: Uint8Array, from: number, to: number, cut: boolean): void {
    // What can't be read to its end may say close.
    if (cut) this._keep = false;
    // Mostly it is only that.
    let at = to;
    if (isText(bytes, from, to, KEEP_ALIVE)) this._keep ??= true;
    else at = from;
    while (at < to) {
      let comma = at;
      while (comma < to && bytes[comma] !== COMMA) comma++;
      const begin = skipBlanks(bytes, at, comma);
      const end = trimBlanks(bytes, begin, comma);
      if (isText(bytes, begin, end, CLOSE)) this._keep = false;
      else if (isText(bytes, begin, end, KEEP_ALIVE)) this._keep ??= true;
      at = comma + 1;
    }
  }

  private _takeRetry(bytes: Uint8Array, from: number, to: number): void {
    const seconds = decimal(bytes, from, to);
    if (seconds >= 0) this._retryMs = seconds * 1000;
    else this._retryDate = parseDate(bytes, from, to);
  }
}

/** What the head of an answer says of a file, for files from other servers than the platform. Everything in it is a peer's word. */
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
