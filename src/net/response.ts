// Reads the answers of one connection as their bytes come in, however they are cut. No I/O.
//
// Lenient: LF alone ends a line; a status line may end after its number; chunk extensions and trailers are skipped.
// Strict: what would leave in doubt where a body ends is refused: two lengths, length and chunks, other codings, folded
// headers, a blank before a colon. 1xx answers are skipped. Head and trailers of one answer are 8 KiB at most.

import type { Host } from "../port.js";
import { Body } from "./body.js";
import { chunkSize } from "./chunk.js";
import { FILE_LINE, FileHead } from "./file-head.js";
import { Head, LINE } from "./head.js";
import { KnownHead } from "./known-head.js";
import type { Sink } from "./request.js";
import { STATES, type State } from "./response-states.js";

/** A whole answer, or one whose body was longer than was wanted. */
export interface Answer {
  readonly status: number;
  /** As far as it was kept; empty if it went to a sink. */
  readonly body: Uint8Array;
  /** False if the body was longer than `body`. */
  readonly whole: boolean;
  readonly date: number | undefined;
  readonly retryAfterMs: number | undefined;
  /** True if another request may follow on the connection. */
  readonly reusable: boolean;
}

/** The flaw of an answer that its sink did not want. */
export const GIVEN_UP = "given up";

const HEAD_BYTES = 8192;
/** Of a chunk's size with its extensions. */
const SIZE_LINE_BYTES = 1024;
const NOTHING = new Uint8Array(0);
const LF = 0x0a;
const CR = 0x0d;

export class ResponseReader {
  #state: State = "whole";
  readonly #head = new Head();
  readonly #body = new Body();
  /** Made with the first answer for which a host is given. */
  #known: KnownHead | undefined;
  /** The beginning of a line that came in pieces; nothing until one does. */
  #line = NOTHING;
  #lineLength = 0;
  #headLength = 0;
  #left = 0;
  #limit = 0;
  #sink: Sink | undefined;
  #answer: Answer | undefined;
  #flaw = "";

  /** Prepares for the next answer: up to `limit` bytes of its body are kept, or a 200 goes to `sink`. With `host` a head like the one before is known again. */
  begin(limit: number, sink?: Sink, host?: Pick<Host, "decode">): void {
    if (host) this.#known ??= new KnownHead(host);
    this.#state = "status";
    this.#lineLength = this.#headLength = 0;
    this.#limit = limit;
    this.#sink = sink;
    this.#answer = undefined;
    this.#flaw = "";
    this.#head.file = sink?.head ? (this.#head.file ?? new FileHead()) : undefined;
  }

  /** Bytes of a line that are looked at. */
  get #lineMost(): number {
    return this.#head.file ? FILE_LINE : LINE;
  }

  /** True once a byte of the answer has come. */
  get started(): boolean {
    return this.#state !== "status" || this.#headLength > 0;
  }

  /** The answer, once it is whole. */
  get answer(): Answer | undefined {
    return this.#answer;
  }

  /** Why this can't become an answer; empty as long as it can. No byte of the peer's is quoted. */
  get flaw(): string {
    return this.#flaw;
  }

  /** Takes the bytes `from` to `to`. Returns where it stopped: before `to` only once there is an answer or a flaw. */
  feed(bytes: Uint8Array, from: number, to: number): number {
    let at = from;
    // In one piece, so far.
    let fresh = at < to && !this.started;
    if (fresh) at = this.#begins(bytes, from, to);
    while (at < to) {
      const before = this.#state;
      const state = STATES[before];
      if (!state) break;
      at = state.line ? this.#takeLine(bytes, at, to, state.head) : this.#takeBody(bytes, at, to, state.next);
      if (!fresh || before !== "fields" || this.#state === "fields") continue;
      fresh = false;
      if (this.#state !== "failed") this.#known?.learn(bytes, from, at, this.#head);
    }
    return at;
  }

  /** The first bytes of an answer. Returns where the rest begins: behind the head, if it is known. */
  #begins(bytes: Uint8Array, from: number, to: number): number {
    const head = this.#head;
    const end = head.file ? -1 : (this.#known?.end(bytes, from, to, head) ?? -1);
    if (end < 0) {
      this.#known?.forget();
      head.clear();
      return from;
    }
    this.#headLength = end - from;
    this.#headEnds();
    return end;
  }

  /** The peer closed in good order. The answer, if it was to end so. */
  end(): Answer | undefined {
    if (this.#state === "close") this.#finish(true);
    return this.#answer;
  }

  /** Finds the end of the line; what came of it so far is kept, as far as LINE goes. */
  #takeLine(bytes: Uint8Array, from: number, to: number, head: boolean): number {
    const found = bytes.indexOf(LF, from);
    const end = found < 0 || found >= to ? to : found;
    const next = Math.min(end + 1, to);
    const length = this.#lineLength + end - from;
    if (head) this.#headLength += next - from;
    if (this.#headLength > HEAD_BYTES) return this.#fail("head too long", next);
    if (!head && length > SIZE_LINE_BYTES) return this.#fail("bad chunk", next);
    if (this.#lineLength === 0 && end < to) {
      this.#wholeLine(bytes, from, length);
      return next;
    }
    if (this.#line.length < this.#lineMost) this.#line = new Uint8Array(this.#lineMost);
    for (let at = from; at < end && this.#lineLength + at - from < this.#line.length; at++)
      this.#line[this.#lineLength + at - from] = bytes[at] as number;
    this.#lineLength = length;
    if (end === to) return next;
    this.#lineLength = 0;
    this.#wholeLine(this.#line, 0, length);
    return next;
  }

  #wholeLine(bytes: Uint8Array, from: number, length: number): void {
    const most = this.#lineMost;
    const cut = length > most;
    let to = from + Math.min(length, most);
    if (to > from && bytes[to - 1] === CR) to--;
    switch (this.#state) {
      case "status":
        if (this.#check(this.#head.takeStatus(bytes, from, to))) this.#state = "fields";
        return;
      case "fields":
        if (to === from) this.#headEnds();
        else this.#check(this.#head.takeField(bytes, from, to, cut));
        return;
      case "size":
        this.#chunkBegins(bytes, from, to);
        return;
      case "chunkEnd":
        if (to === from) this.#state = "size";
        else this.#fail("bad chunk", 0);
        return;
      case "trailer":
        if (to === from) this.#finish(true);
        return;
      default:
        return;
    }
  }

  #headEnds(): void {
    const { status, length, framing } = this.#head;
    if (status < 200) {
      this.#head.clear();
      this.#state = "status";
      return;
    }
    if (!this.#check(this.#head.flaw())) return;
    const known = framing === "none" ? 0 : framing === "length" ? length : undefined;
    if (!this.#body.begin(this.#limit, this.#sink, known, status, this.#head.file)) {
      this.#fail(GIVEN_UP, 0);
      return;
    }
    this.#left = framing === "close" ? Number.POSITIVE_INFINITY : length;
    if (framing === "none") this.#finish(true);
    else if (framing === "length" && this.#body.full) this.#finish(false);
    else this.#state = framing === "chunked" ? "size" : framing;
  }

  #chunkBegins(bytes: Uint8Array, from: number, to: number): void {
    const size = chunkSize(bytes, from, to, to - from >= this.#lineMost);
    this.#left = size;
    this.#state = size === 0 ? "trailer" : "chunk";
    if (size < 0) this.#fail("bad chunk", 0);
  }

  #takeBody(bytes: Uint8Array, from: number, to: number, next: State): number {
    const end = Math.min(to, from + this.#left);
    const whole = this.#body.take(bytes, from, end);
    this.#left -= end - from;
    if (!whole && this.#body.streams) return this.#fail(GIVEN_UP, end);
    if (!whole || (next === "whole" && this.#left > 0 && this.#body.full)) this.#finish(false);
    else if (this.#left === 0 && next === "whole") this.#finish(true);
    else if (this.#left === 0) this.#state = next;
    return end;
  }

  #check(flaw: string | undefined): boolean {
    if (flaw !== undefined) this.#fail(flaw, 0);
    return flaw === undefined;
  }

  #fail(flaw: string, at: number): number {
    this.#flaw = flaw;
    this.#state = "failed";
    this.#body.end();
    return at;
  }

  #finish(whole: boolean): void {
    const head = this.#head;
    const reusable = whole && head.keeps && head.framing !== "close";
    this.#state = "whole";
    this.#answer = {
      status: head.status,
      body: this.#body.end(),
      whole,
      date: head.date,
      retryAfterMs: head.retryAfterMs,
      reusable,
    };
  }
}
