// Parses the answers of one connection from bytes in pieces of any size. No I/O.
//
// Lenient: a bare LF ends a line, a status line may end after its number, chunk extensions and
// trailers are skipped, a folded header continues the one before it. Strict: anything ambiguous
// about the end of a body is rejected: two lengths, length with chunks, other codings, a blank
// before a colon. 1xx answers are skipped. Head and trailers of one answer are limited to 8 KiB.

import type { ByteLoops, Host } from "../port.js";
import { find, hexDigit, isBlank } from "./bytes.js";
import { FILE_LINE, FileHead } from "./file-head.js";
import { Head, LINE } from "./head.js";
import { HeadCache } from "./head-cache.js";
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
  /** Scheme and authority of an absolute Location, for people. */
  readonly redirect?: string | undefined;
  /** True if the connection can be reused. */
  readonly reusable: boolean;
}

/** The problem of an answer that its sink rejected. */
export const GIVEN_UP = "given up";

const HEAD_BYTES = 8192;
/** Limit of a chunk-size line with extensions. */
const SIZE_LINE_BYTES = 1024;
const MAX_CHUNK = 2 ** 40;
/** Buffer size for a body before its first byte. */
const FIRST_BYTES = 512;
const NOTHING = new Uint8Array(0);
const LF = 0x0a;
const CR = 0x0d;
const SEMICOLON = 0x3b;

/**
 * States of parsing: each takes lines or body bytes. `next`: state after the body. `head`: counts
 * towards HEAD_BYTES.
 */
const STATES = {
  status: { line: true, head: true },
  fields: { line: true, head: true },
  length: { line: false, next: "whole" },
  close: { line: false, next: "close" },
  size: { line: true, head: false },
  chunk: { line: false, next: "chunkEnd" },
  chunkEnd: { line: true, head: false },
  trailer: { line: true, head: true },
  whole: undefined,
  failed: undefined,
} as const;

type State = keyof typeof STATES;

export class ResponseReader {
  private _state: State = "whole";
  private readonly _loops: ByteLoops | undefined;
  private readonly _head: Head;
  private readonly _body = new Body();
  /** Of this answer; undefined if its head is not cached. */
  private _headCache: HeadCache | undefined;
  /**
   * Created at the first such answer. An RPC comes by a poll and is answered on the same
   * connection: one cache would forget the other's head each time.
   */
  private _pollCache: HeadCache | undefined;
  private _otherCache: HeadCache | undefined;
  /** The start of a line that came in pieces; empty until one does. */
  private _line = NOTHING;
  private _lineLength = 0;
  private _headLength = 0;
  private _left = 0;
  private _limit = 0;
  private _sink: Sink | undefined;
  private _answer: Answer | undefined;
  private _problem = "";

  constructor(loops?: ByteLoops) {
    this._loops = loops;
    this._head = new Head(loops);
  }

  /**
   * Prepares for the next answer. Stores up to `limit` bytes of its body, or streams a 200 to
   * `sink`. With `host`, caches the head, beside one of the other kind.
   */
  expect(limit: number, sink?: Sink, host?: Pick<Host, "decode">, isPoll = false): void {
    this._headCache = undefined;
    if (host && isPoll) this._headCache = this._pollCache ??= new HeadCache(host);
    else if (host) this._headCache = this._otherCache ??= new HeadCache(host);
    this._state = "status";
    this._lineLength = this._headLength = 0;
    this._limit = limit;
    this._sink = sink;
    this._answer = undefined;
    this._problem = "";
    this._head.file = sink?.head ? (this._head.file ?? new FileHead()) : undefined;
  }

  /** Maximum length of a parsed line. */
  private get _maxLine(): number {
    return this._head.file ? FILE_LINE : LINE;
  }

  /** True once the first byte of the answer arrived. */
  get started(): boolean {
    return this._state !== "status" || this._headLength > 0;
  }

  /** The answer, once complete. */
  get answer(): Answer | undefined {
    return this._answer;
  }

  /** Why the answer is invalid; empty while it is valid. Never quotes the peer's bytes. */
  get problem(): string {
    return this._problem;
  }

  /**
   * Processes the bytes `from` to `to`. Returns the end, before `to` only after an answer or a
   * problem.
   */
  feed(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    // True while the answer came in one piece.
    let fresh = at < to && !this.started;
    if (fresh) at = this._begins(bytes, from, to);
    while (at < to) {
      const before = this._state;
      const state = STATES[before];
      if (!state) break;
      at = state.line ? this._takeLine(bytes, at, to, state.head) : this._takeBody(bytes, at, to, state.next);
      if (!fresh || before !== "fields" || this._state === "fields") continue;
      fresh = false;
      if (this._state !== "failed") this._headCache?.learn(bytes, from, at, this._head);
    }
    return at;
  }

  /**
   * Processes the first bytes of an answer. Returns the position after a known head, otherwise
   * `from`.
   */
  private _begins(bytes: Uint8Array, from: number, to: number): number {
    const head = this._head;
    const end = head.file ? -1 : (this._headCache?.recognize(bytes, from, to, head) ?? -1);
    if (end < 0) {
      this._headCache?.clear();
      head.clear();
      return from;
    }
    this._headLength = end - from;
    this._headEnds();
    return end;
  }

  /** The peer closed normally. Returns the answer, if its body ends with the connection. */
  peerClosed(): Answer | undefined {
    if (this._state === "close") this._finish(true);
    return this._answer;
  }

  /** Finds the end of the line. An incomplete line is stored up to LINE bytes. */
  private _takeLine(bytes: Uint8Array, from: number, to: number, head: boolean): number {
    const end = find(bytes, from, to, LF, this._loops);
    const next = Math.min(end + 1, to);
    const length = this._lineLength + end - from;
    if (head) this._headLength += next - from;
    if (this._headLength > HEAD_BYTES) return this._fail("head too long", next);
    if (!head && length > SIZE_LINE_BYTES) return this._fail("bad chunk", next);
    if (this._lineLength === 0 && end < to) {
      this._wholeLine(bytes, from, length);
      return next;
    }
    if (this._line.length < this._maxLine) this._line = new Uint8Array(this._maxLine);
    for (let at = from; at < end && this._lineLength + at - from < this._line.length; at++)
      this._line[this._lineLength + at - from] = bytes[at] as number;
    this._lineLength = length;
    if (end === to) return next;
    this._lineLength = 0;
    this._wholeLine(this._line, 0, length);
    return next;
  }

  private _wholeLine(bytes: Uint8Array, from: number, length: number): void {
    const max = this._maxLine;
    const cut = length > max;
    let to = from + Math.min(length, max);
    if (to > from && bytes[to - 1] === CR) to--;
    switch (this._state) {
      case "status":
        if (this._check(this._head.takeStatus(bytes, from, to))) this._state = "fields";
        return;
      case "fields":
        if (to === from) this._headEnds();
        else this._check(this._head.takeField(bytes, from, to, cut));
        return;
      case "size":
        this._chunkBegins(bytes, from, to);
        return;
      case "chunkEnd":
        if (to === from) this._state = "size";
        else this._fail("bad chunk", 0);
        return;
      case "trailer":
        if (to === from) this._finish(true);
        return;
      default:
        return;
    }
  }

  private _headEnds(): void {
    const { status, length, framing } = this._head;
    if (status < 200) {
      this._head.clear();
      this._state = "status";
      return;
    }
    if (!this._check(this._head.problem())) return;
    const known = framing === "none" ? 0 : framing === "length" ? length : undefined;
    if (!this._body.expect(this._limit, this._sink, known, status, this._head.file)) {
      this._fail(GIVEN_UP, 0);
      return;
    }
    this._left = framing === "close" ? Number.POSITIVE_INFINITY : length;
    if (framing === "none") this._finish(true);
    else if (framing === "length" && this._body.full) this._finish(false);
    else this._state = framing === "chunked" ? "size" : framing;
  }

  private _chunkBegins(bytes: Uint8Array, from: number, to: number): void {
    const size = chunkSize(bytes, from, to, to - from >= this._maxLine);
    this._left = size;
    this._state = size === 0 ? "trailer" : "chunk";
    if (size < 0) this._fail("bad chunk", 0);
  }

  private _takeBody(bytes: Uint8Array, from: number, to: number, next: State): number {
    const end = Math.min(to, from + this._left);
    const whole = this._body.consume(bytes, from, end);
    this._left -= end - from;
    if (!whole && this._body.streams) return this._fail(GIVEN_UP, end);
    if (!whole || (next === "whole" && this._left > 0 && this._body.full)) this._finish(false);
    else if (this._left === 0 && next === "whole") this._finish(true);
    else if (this._left === 0) this._state = next;
    return end;
  }

  private _check(problem: string | undefined): boolean {
    if (problem !== undefined) this._fail(problem, 0);
    return problem === undefined;
  }

  private _fail(problem: string, at: number): number {
    this._problem = problem;
    this._state = "failed";
    this._body.release();
    return at;
  }

  private _finish(whole: boolean): void {
    const head = this._head;
    const reusable = whole && head.keeps && head.framing !== "close";
    this._state = "whole";
    this._answer = {
      status: head.status,
      body: this._body.release(),
      whole,
      date: head.date,
      retryAfterMs: head.retryAfterMs,
      ...(head.redirect !== undefined && { redirect: head.redirect }),
      reusable,
    };
  }
}

/** Stores the body of an answer up to a limit, or streams it to a sink. */
class Body {
  private _limit = 0;
  private _sink: Sink | undefined;
  private _bytes = NOTHING;
  private _used = 0;

  /**
   * Prepares for the next answer. `length`: undefined if unknown; at most 512 bytes are allocated
   * in advance. False: the sink rejected it.
   */
  expect(
    limit: number,
    wanted: Sink | undefined,
    length: number | undefined,
    status: number,
    file: FileHead | undefined,
  ): boolean {
    const sink = status === 200 || (status === 206 && file) ? wanted : undefined;
    this._limit = limit;
    this._sink = sink;
    this._used = 0;
    if (file) {
      file.status = status;
      file.length = length;
      if (!trueUnlessThrown(() => wanted?.head?.(file) === true)) return false;
    }
    this._bytes = sink ? NOTHING : new Uint8Array(Math.min(limit, length ?? FIRST_BYTES, FIRST_BYTES));
    return !sink || trueUnlessThrown(() => sink.announced(length));
  }

  /** True if no more bytes are stored. */
  get full(): boolean {
    return !this._sink && this._used >= this._limit;
  }

  /** True if the body goes to a sink. */
  get streams(): boolean {
    return this._sink !== undefined;
  }

  /**
   * Processes the bytes `from` to `to`. False if the limit is exceeded or the sink rejected them.
   */
  consume(bytes: Uint8Array, from: number, to: number): boolean {
    const sink = this._sink;
    if (sink) {
      const piece = from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to);
      // Without `trueUnlessThrown`, which would make a function for each piece.
      try {
        return sink.fragment(piece);
      } catch {
        return false;
      }
    }
    const end = Math.min(to, from + this._limit - this._used);
    this._grow(this._used + end - from);
    this._bytes.set(bytes.subarray(from, end), this._used);
    this._used += end - from;
    return end === to;
  }

  /** The stored bytes, which then belong to the caller. */
  release(): Uint8Array {
    const bytes = this._used === this._bytes.length ? this._bytes : this._bytes.slice(0, this._used);
    this._bytes = NOTHING;
    this._sink = undefined;
    this._used = 0;
    return bytes;
  }

  private _grow(needed: number): void {
    if (needed <= this._bytes.length) return;
    const grown = new Uint8Array(Math.min(this._limit, Math.max(needed, this._bytes.length * 2)));
    grown.set(this._bytes);
    this._bytes = grown;
  }
}

/** False if the call throws. */
const trueUnlessThrown = (call: () => boolean): boolean => {
  try {
    return call();
  } catch {
    return false;
  }
};

/** The size at the start of a chunk line, or -1. `cut`: the line continues after the range. */
const chunkSize = (bytes: Uint8Array, from: number, to: number, cut: boolean): number => {
  let size = 0;
  let at = from;
  for (let digit = 0; at < to; at++) {
    digit = hexDigit(bytes[at] as number);
    if (digit < 0) break;
    size = size * 16 + digit;
    if (size > MAX_CHUNK) break;
  }
  const ends = at === to ? !cut : bytes[at] === SEMICOLON || isBlank(bytes[at]);
  return at > from && ends ? size : -1;
};
