// The head of an answer: what the agent needs of it, read from the lines where they lie. Every other header is skipped.
// Content-Type is not among them: the platform labels plain text as JSON and sends JSON without a label.
import { decimal, find, isBlank, isText, skipBlanks, trimBlanks, word } from "./bytes.js";
import { parseDate } from "./date.js";
import type { FileHead } from "./file-head.js";

/** Bytes of a line that are looked at. A header that matters is never longer. */
export const LINE = 160;

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

  /** True if the peer keeps the connection after this answer. */
  get keeps(): boolean {
    return this._keep ?? !this._old;
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
