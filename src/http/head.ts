// The response head: parses the headers that the agent needs in place and skips all others.
// Content-Type is ignored: the platform labels text as JSON and sends JSON without a label.
import type { ByteLoops } from "../port.js";
import { ascii, characters, lowerCase, spanOf } from "../wire/text/characters.js";
import { decimal, find, isBlank, isText, skipBlanks, textOf, trimBlanks } from "./bytes.js";
import { parseDate } from "./date.js";
import type { FileHead } from "./file-head.js";

/** Maximum length of a parsed line. Relevant headers are never longer. */
export const LINE = 160;

/**
 * End of the body: none; after `length` bytes; after the last chunk; at the end of the connection.
 */
export type Framing = "none" | "length" | "chunked" | "close";

/** Relevant headers by the length of their names, which are all different. */
const DATE = 4;
const REDIRECT = 8;
const CONNECTION = 10;
const RETRY_AFTER = 11;
const CONTENT_LENGTH = 14;
const TRANSFER_ENCODING = 17;
const ALL = ["date", "location", "connection", "retry-after", "content-length", "transfer-encoding"];
const NAMES = Array.from({ length: TRANSFER_ENCODING + 1 }, (_, length) => {
  const name = ALL.find((one) => one.length === length);
  return name === undefined ? undefined : ascii(name);
});
const HTTP = ascii("http/");
const CHUNKED = ascii("chunked");
const CLOSE = ascii("close");
const KEEP_ALIVE = ascii("keep-alive");
const COLON = 0x3a;
const COMMA = 0x2c;
const DOT = 0x2e;
/** Limit of Retry-After. */
const MAX_WAIT_MS = 3_600_000;
const ORIGIN = characters("azAZ09..::--[[]]");
const MAX_ORIGIN = 100;

/** What a head says of its answer, its date apart. */
export interface Gist {
  readonly status: number;
  readonly length: number;
  readonly chunked: boolean;
  readonly old: boolean;
  readonly keepAlive: boolean | undefined;
}

export class Head {
  status = 0;
  /** Value of Content-Length; -1 if missing. */
  length = -1;
  chunked = false;
  /** Value of the Date header, in ms since 1970. */
  date: number | undefined;
  /** Set to receive the headers that matter only for files. */
  file: FileHead | undefined;
  /** Scheme and authority of an absolute Location. The path may contain a token. */
  redirect: string | undefined;
  /** Length of the name of the last header; 0 if it is not relevant, -1 before the first. */
  private _field = -1;
  /** True at the start of Content-Length and after a comma in it: a number must follow. */
  private _wantsLength = false;
  /** True after an empty Transfer-Encoding, which a folded line may continue. */
  private _wantsCoding = false;
  private _retryMs: number | undefined;
  private _retryDate: number | undefined;
  /** HTTP/1.0 closes the connection by default. */
  private _old = false;
  /** The Connection header; "close" takes precedence. */
  private _keepAlive: boolean | undefined;
  private readonly _loops: ByteLoops | undefined;

  constructor(loops: ByteLoops | undefined) {
    this._loops = loops;
  }

  /** Clears everything but the status, before each head and after a 1xx. */
  clear(): void {
    this.length = -1;
    this.chunked = false;
    this.date = undefined;
    this.redirect = undefined;
    this._field = -1;
    this._wantsLength = this._wantsCoding = false;
    this.file?.clear();
    this._retryMs = undefined;
    this._retryDate = undefined;
    this._keepAlive = undefined;
  }

  /**
   * Parses `HTTP/1.1 200 OK`; the reason phrase and its blank may be missing. Returns the problem.
   */
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

  /** Parses one header line. `cut`: it was longer than LINE. Returns the problem. */
  takeField(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    if (isBlank(bytes[from])) return this._continueField(bytes, skipBlanks(bytes, from, to), to, cut);
    const colon = find(bytes, from, to, COLON, this._loops);
    // A blank before the colon can disguise one header as another.
    if (colon === from || colon === to || isBlank(bytes[colon - 1])) return "bad header";
    const name = NAMES[colon - from];
    const known = name !== undefined && isText(bytes, from, colon, name);
    this._field = known ? colon - from : 0;
    if (!known && !this.file) return undefined;
    const value = skipBlanks(bytes, colon + 1, to);
    const end = trimBlanks(bytes, value, to);
    if (!cut) this.file?.parseLine(bytes, from, colon, value, end);
    if (known && colon - from === CONTENT_LENGTH) this._wantsLength = true;
    return this._takeValue(bytes, value, end, cut);
  }

  /** Parses a folded line: it continues the value of the header before it. */
  private _continueField(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    if (this._field < 0) return "folded header";
    this.file?.fold();
    // A date is on one line, or not read.
    if (this._field === DATE && this.date !== undefined) return undefined;
    if (this._field === RETRY_AFTER && this._retryMs !== undefined) return undefined;
    const end = trimBlanks(bytes, from, to);
    return end === from ? undefined : this._takeValue(bytes, from, end, cut);
  }

  /** Parses the value of the last header, or the part of it in one line. */
  private _takeValue(bytes: Uint8Array, value: number, end: number, cut: boolean): string | undefined {
    switch (this._field) {
      case CONTENT_LENGTH:
        return this._takeLength(bytes, value, end, cut);
      case REDIRECT:
        this.redirect ??= originOf(bytes, value, end);
        return undefined;
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

  /** Undefined if the head says more: when to retry, or where the answer is. */
  get gist(): Gist | undefined {
    if (this.retryAfterMs !== undefined || this._retryDate !== undefined) return undefined;
    if (this.redirect !== undefined) return undefined;
    const { status, length, chunked, _old: old, _keepAlive: keepAlive } = this;
    return { status, length, chunked, old, keepAlive };
  }

  /** Becomes a head that says this. */
  restore(gist: Gist, date: number | undefined): void {
    this.clear();
    this.status = gist.status;
    this.length = gist.length;
    this.chunked = gist.chunked;
    this.date = date;
    this._old = gist.old;
    this._keepAlive = gist.keepAlive;
  }

  /** Returns the problem of the head as a whole. */
  problem(): string | undefined {
    if (this.chunked && this.length >= 0) return "both length and chunks";
    if (this.chunked && this._old) return "chunks in HTTP/1.0";
    if (this._wantsLength) return "bad Content-Length";
    if (this._wantsCoding) return "unknown Transfer-Encoding";
    return undefined;
  }

  get framing(): Framing {
    if (this.status < 200 || this.status === 204 || this.status === 304) return "none";
    if (this.chunked) return "chunked";
    if (this.length === 0) return "none";
    return this.length > 0 ? "length" : "close";
  }

  /**
   * True if the connection can be reused. Not after a 204 or 304: some servers send a body all the
   * same, and it would be read as the next answer.
   */
  get keeps(): boolean {
    return this.status !== 204 && this.status !== 304 && (this._keepAlive ?? !this._old);
  }

  /** Retry-After in ms, at most 1 h. A date in it counts from the answer's own Date. */
  get retryAfterMs(): number | undefined {
    let ms = this._retryMs;
    if (this._retryDate !== undefined && this.date !== undefined) ms = this._retryDate - this.date;
    return ms === undefined ? undefined : Math.min(Math.max(0, ms), MAX_WAIT_MS);
  }

  private _takeLength(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    if (cut) return "bad Content-Length";
    // A proxy may join equal lengths to a list.
    for (let at = from; at < to; at = skipBlanks(bytes, at, to)) {
      if (!this._wantsLength && bytes[at++] !== COMMA) return "bad Content-Length";
      else if (!this._wantsLength) this._wantsLength = true;
      else {
        const begin = at;
        while (at < to && bytes[at] !== COMMA && !isBlank(bytes[at])) at++;
        const length = decimal(bytes, begin, at);
        if (length < 0) return "bad Content-Length";
        if (this.length >= 0 && this.length !== length) return "two lengths";
        this.length = length;
        this._wantsLength = false;
      }
    }
    return undefined;
  }

  private _takeCoding(bytes: Uint8Array, from: number, to: number, cut: boolean): string | undefined {
    this._wantsCoding = from === to;
    if (from === to) return undefined;
    if (cut || this.chunked || !isText(bytes, from, to, CHUNKED)) return "unknown Transfer-Encoding";
    this.chunked = true;
    return undefined;
  }

  private _takeConnection(bytes: Uint8Array, from: number, to: number, cut: boolean): void {
    // A truncated value may contain "close".
    if (cut) this._keepAlive = false;
    // The usual value is a single keep-alive.
    let at = to;
    if (isText(bytes, from, to, KEEP_ALIVE)) this._keepAlive ??= true;
    else at = from;
    while (at < to) {
      let comma = at;
      while (comma < to && bytes[comma] !== COMMA) comma++;
      const begin = skipBlanks(bytes, at, comma);
      const end = trimBlanks(bytes, begin, comma);
      if (isText(bytes, begin, end, CLOSE)) this._keepAlive = false;
      else if (isText(bytes, begin, end, KEEP_ALIVE)) this._keepAlive ??= true;
      at = comma + 1;
    }
  }

  private _takeRetry(bytes: Uint8Array, from: number, to: number): void {
    const seconds = decimal(bytes, from, to);
    if (seconds >= 0) this._retryMs = seconds * 1000;
    else this._retryDate = parseDate(bytes, from, to);
  }
}

/** `https://host:8080` of an absolute http or https address; undefined if it is not plain. */
const originOf = (bytes: Uint8Array, from: number, to: number): string | undefined => {
  const text = textOf(bytes, from, Math.min(to, from + MAX_ORIGIN));
  const scheme = ["https://", "http://"].find((one) => lowerCase(text).startsWith(one));
  if (scheme === undefined) return undefined;
  const rest = text.slice(scheme.length);
  const authority = rest.slice(0, spanOf(rest, ORIGIN));
  const after = rest.slice(authority.length, authority.length + 1);
  const isPlain = authority !== "" && (after === "" || after === "/" || after === "?");
  return isPlain ? scheme + authority : undefined;
};
