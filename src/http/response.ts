// Parses the answers of one connection from bytes in pieces of any size. No I/O.
//
// Chunk extensions and trailers are skipped, and so are 1xx answers. Heads and trailers of one
// answer are limited to 8 KiB. What a head may say: head.ts.

import type { Host } from "../port.js";
import { HEX, isSameName, spanOf } from "../wire/text/characters.js";
import { parseDate } from "./date.js";
import { toFileHead } from "./file-head.js";
import { type Head, parseHead, retryAfterMs, withoutEnds } from "./head.js";
import type { Sink } from "./request.js";

/** A complete answer, or one whose body exceeded the limit. */
export interface Answer {
  readonly status: number;
  /** The stored part of the body; empty if it went to a sink. */
  readonly body: Uint8Array;
  /** False if the body was longer than `body`. */
  readonly whole: boolean;
  readonly date: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** Value of Location. */
  readonly location: string | undefined;
  /** True if the connection can be reused. */
  readonly reusable: boolean;
}

/** The problem of an answer that its sink rejected. */
export const GIVEN_UP = "given up";

const HEAD_BYTES = 8192;
/** Bytes that are searched at once for the end of a head, which is shorter as a rule. */
const HEAD_PIECE = 1024;
/** Longer heads are not kept for comparison. The platform's have about 400 bytes. */
const MOST_KEPT = 1024;
/** Limit of a chunk-size line with extensions. */
const SIZE_LINE_BYTES = 1024;
/** More hexadecimal digits are not exact. */
const MAX_SIZE_DIGITS = 12;
/** Buffer size for a body before its first byte. */
const FIRST_BYTES = 512;
const NOTHING = new Uint8Array(0);
const LF = 0x0a;
const HTTP_1 = "HTTP/1.";
const EMPTY_LINE = "\n\r\n";
const BARE_EMPTY_LINE = "\n\n";
const DATE = "\nDate: ";
const DATE_LENGTH = 29;

/**
 * What is read next. `length`, `close` and `chunk`: bytes of the body. `size`: a line with the size
 * of a chunk. `chunkEnd`: the empty line after it. `trailer`: lines up to an empty one.
 */
type State = "head" | "length" | "close" | "size" | "chunk" | "chunkEnd" | "trailer" | "over";

export class ResponseReader {
  private readonly _host: Pick<Host, "decode">;
  private _state: State = "over";
  /** What has come of the head, or of a line of the chunks. */
  private _text = "";
  private _head: Head | undefined;
  /** Bytes of heads and trailers. */
  private _headBytes = 0;
  /** Heads, and their texts without the date. */
  private _parsed: readonly { readonly undated: string; readonly head: Head }[] = [];
  /** Bytes left of the body or the chunk. */
  private _left = 0;
  private _limit = 0;
  /** From the end of the head on, only if it receives the body. */
  private _sink: Sink | undefined;
  private _body = NOTHING;
  private _stored = 0;
  /** True once the first byte of the answer arrived. */
  started = false;
  /** The answer, once complete. */
  answer: Answer | undefined;
  /** Why the answer is invalid; empty while it is valid. Never quotes the peer's bytes. */
  problem = "";

  constructor(host: Pick<Host, "decode">) {
    this._host = host;
  }

  /**
   * Prepares for the next answer. Stores up to `limit` bytes of its body, or streams a 200 to
   * `sink`.
   */
  expect(limit: number, sink?: Sink): void {
    this._state = "head";
    this._text = this.problem = "";
    this._head = this.answer = undefined;
    this._headBytes = this._stored = 0;
    this._limit = limit;
    this._sink = sink;
    this.started = false;
  }

  /**
   * Processes the bytes `from` to `to`. Returns the end, before `to` only after an answer or a
   * problem.
   */
  feed(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    while (at < to && this._state !== "over") {
      this.started = true;
      at = this._take(bytes, at, to);
    }
    return at;
  }

  private _take(bytes: Uint8Array, at: number, to: number): number {
    switch (this._state) {
      case "head":
        return this._takeHead(bytes, at, to);
      case "size":
      case "chunkEnd":
      case "trailer":
        return this._takeLine(bytes, at, to);
      default:
        return this._takeBody(bytes, at, to);
    }
  }

  /** The peer closed normally. Returns the answer, if its body ends with the connection. */
  peerClosed(): Answer | undefined {
    if (this._state === "close") this._finish(true);
    return this.answer;
  }

  private _takeHead(bytes: Uint8Array, from: number, to: number): number {
    const before = this._text.length;
    const piece = bytes.subarray(from, Math.min(to, from + HEAD_PIECE));
    this._text += this._decode(piece);
    let text = this._text;
    // Says so at once: another protocol may never send an empty line.
    if (!text.startsWith(HTTP_1) && !isSameName(text.slice(0, HTTP_1.length), HTTP_1.slice(0, text.length)))
      return this._fail("not HTTP/1", from);
    const end = endOfHead(text, Math.max(0, before - EMPTY_LINE.length));
    const next = end < 0 ? from + piece.length : from + end - before;
    this._headBytes += next - from;
    if (this._headBytes > HEAD_BYTES) return this._fail("head too long", next);
    if (end < 0) return next;
    // A long head is in memory only once, and once in lines.
    this._text = "";
    text = withoutEnds(text.slice(0, end));
    const head = this._parse(text);
    if (typeof head === "string") return this._fail(head, next);
    if (head.status >= 200) this._headEnds(head);
    return next;
  }

  /** One character for each byte. Natively, unless there are bytes beyond ASCII. */
  private _decode(bytes: Uint8Array): string {
    const text = this._host.decode(bytes);
    return text?.length === bytes.length ? text : textOf(bytes, 0, bytes.length);
  }

  /**
   * Heads of one server differ only in their dates as a rule. Comparing texts takes a board a tenth
   * of the steps of parsing. The last two are kept, because an RPC is answered on the connection
   * that brought it.
   */
  private _parse(text: string): Head | string {
    const at = text.indexOf(DATE) + DATE.length;
    if (at < DATE.length || text.length > MOST_KEPT) return parseHead(text);
    const value = text.slice(at, at + DATE_LENGTH);
    const undated = text.slice(0, at) + text.slice(at + DATE_LENGTH);
    const last = this._parsed[0];
    const other = this._parsed[1];
    const known = last?.undated === undated ? last : other?.undated === undated ? other : undefined;
    const date = known && parseDate(value);
    if (known && date !== undefined) return { ...known.head, date };
    const head = parseHead(text);
    if (typeof head !== "string" && head.date !== undefined && head.fields.Date === value)
      this._parsed = last ? [{ undated, head }, last] : [{ undated, head }];
    return head;
  }

  private _headEnds(head: Head): void {
    const { status, length, chunked } = head;
    const sink = this._sink;
    const streams = sink && (status === 200 || (status === 206 && sink.head)) ? sink : undefined;
    this._head = head;
    this._sink = streams;
    if (sink && !wants(sink, head, streams !== undefined)) this._fail(GIVEN_UP, 0);
    else if (length === 0) this._finish(true);
    // Not even the first byte is wanted.
    else if (length !== undefined && !streams && this._limit === 0) this._finish(false);
    else {
      this._state = chunked ? "size" : length === undefined ? "close" : "length";
      this._left = length ?? Number.POSITIVE_INFINITY;
      if (!streams) this._body = new Uint8Array(Math.min(this._limit, length ?? FIRST_BYTES, FIRST_BYTES));
    }
  }

  private _takeLine(bytes: Uint8Array, from: number, to: number): number {
    let end = from;
    while (end < to && bytes[end] !== LF) end++;
    const next = Math.min(end + 1, to);
    this._text += textOf(bytes, from, end);
    const line = this._text.endsWith("\r") ? this._text.slice(0, -1) : this._text;
    if (this._state === "trailer") {
      this._headBytes += next - from;
      if (this._headBytes > HEAD_BYTES) return this._fail("head too long", next);
    } else if (line.length > SIZE_LINE_BYTES) return this._fail("bad chunk", next);
    if (end === to) return next;
    this._text = "";
    if (this._state === "size") this._chunkBegins(line);
    else if (this._state === "chunkEnd") this._chunkEnds(line);
    else if (line === "") this._finish(true);
    return next;
  }

  private _chunkBegins(line: string): void {
    const digits = spanOf(line, HEX);
    const isSize =
      digits > 0 && digits <= MAX_SIZE_DIGITS && ["", ";", " ", "\t"].includes(line.charAt(digits));
    if (!isSize) this._fail("bad chunk", 0);
    else {
      this._left = Number.parseInt(line.slice(0, digits), 16);
      this._state = this._left === 0 ? "trailer" : "chunk";
    }
  }

  private _chunkEnds(line: string): void {
    if (line === "") this._state = "size";
    else this._fail("bad chunk", 0);
  }

  private _takeBody(bytes: Uint8Array, from: number, to: number): number {
    const end = Math.min(to, from + this._left);
    this._left -= end - from;
    if (this._sink) {
      if (!streamed(this._sink, bytes.subarray(from, end))) return this._fail(GIVEN_UP, end);
    } else if (!this._store(bytes, from, end)) {
      this._finish(false);
      return end;
    }
    if (this._left > 0) return end;
    if (this._state === "chunk") this._state = "chunkEnd";
    else this._finish(true);
    return end;
  }

  /** False if the body is longer than the limit. */
  private _store(bytes: Uint8Array, from: number, to: number): boolean {
    const end = Math.min(to, from + this._limit - this._stored);
    const needed = this._stored + end - from;
    if (needed > this._body.length) {
      const grown = new Uint8Array(Math.min(this._limit, Math.max(needed, this._body.length * 2)));
      grown.set(this._body);
      this._body = grown;
    }
    this._body.set(bytes.subarray(from, end), this._stored);
    this._stored = needed;
    const isCut = this._state === "length" && needed === this._limit && this._left > 0;
    return end === to && !isCut;
  }

  private _fail(problem: string, at: number): number {
    this.problem = problem;
    this._end();
    return at;
  }

  private _finish(whole: boolean): void {
    const head = this._head as Head;
    const { status, date, fields } = head;
    const body = this._stored === this._body.length ? this._body : this._body.slice(0, this._stored);
    const location = fields.Location;
    const reusable = whole && head.keeps;
    this.answer = { status, body, whole, date, location, retryAfterMs: retryAfterMs(head), reusable };
    this._end();
  }

  private _end(): void {
    this._state = "over";
    this._text = "";
    this._body = NOTHING;
    this._head = this._sink = undefined;
  }
}

/** The position after the empty line that ends a head; -1 if there is none after `from`. */
const endOfHead = (text: string, from: number): number => {
  const at = text.indexOf(EMPTY_LINE, from);
  const bare = text.indexOf(BARE_EMPTY_LINE, from);
  if (bare >= 0 && (at < 0 || bare < at)) return bare + BARE_EMPTY_LINE.length;
  return at < 0 ? -1 : at + EMPTY_LINE.length;
};

const textOf = (bytes: Uint8Array, from: number, to: number): string => {
  let text = "";
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
};

/** False if the sink rejects the answer or throws. */
const wants = (sink: Sink, head: Head, streams: boolean): boolean => {
  try {
    if (sink.head && !sink.head(toFileHead(head))) return false;
    return !streams || sink.announced(head.length);
  } catch {
    return false;
  }
};

/** False if the sink rejects the bytes or throws. */
const streamed = (sink: Sink, bytes: Uint8Array): boolean => {
  try {
    return sink.fragment(bytes);
  } catch {
    return false;
  }
};
