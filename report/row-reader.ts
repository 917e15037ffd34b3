// Parses the answer of the report API from pieces of any size, storing one row at a time:
//
//   {"columnLabels":["Device","Date","Average"],
//    "dataTable":[{"Device":"greenhouse-7","Date":"1760000000000","Average":21.5},...]}
//
// The two members may come in either order; others are skipped. Measures are numbers, dates are ms
// since 1970 as strings, dimensions are strings; types are not reported.
import type { Row, RowTaker } from "./question.js";

/**
 * `malformed`: not an answer of this API. `too large`: a row, or the labels, beyond the limit.
 * `given up`: by the taker.
 */
export type RowProblem = "malformed" | "too large" | "given up";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const FIRST_BYTES = 256;
const NOTHING = new Uint8Array(0);

/**
 * Transitions by the next byte (blanks are skipped). In states `in...`, a text is collected up to
 * its end.
 */
const STATES = {
  start: { [OPEN]: "firstName" },
  firstName: { [QUOTE]: "inName", [CLOSE]: "end" },
  name: { [QUOTE]: "inName" },
  colon: { [COLON]: "value" },
  /** Depends on the name: only skipped members may have any value. */
  value: {},
  after: { [COMMA]: "name", [CLOSE]: "end" },
  firstRow: { [OPEN]: "inRow", [CLOSE_LIST]: "after" },
  row: { [OPEN]: "inRow" },
  afterRow: { [COMMA]: "row", [CLOSE_LIST]: "after" },
  end: {},
} as const satisfies Record<string, Readonly<Record<number, string>>>;

type Between = keyof typeof STATES;
type Within = "inName" | "inLabels" | "inOther" | "inRow";
type State = Between | Within;

export class RowReader {
  readonly #taker: RowTaker;
  readonly #limit: number;
  #state: State = "start";
  #name = "";
  #hasLabels = false;
  #hasTable = false;
  /** The beginning of a text that came in pieces. */
  #partial = NOTHING;
  #used = 0;
  #depth = 0;
  #quoted = false;
  /** The last piece ended with a backslash that escapes the next character. */
  #escaped = false;
  #rows = 0;
  #problem: RowProblem | undefined;

  /** `limit`: maximum size of one row, and of the labels, in bytes. */
  constructor(limit: number, taker: RowTaker) {
    this.#limit = limit;
    this.#taker = taker;
  }

  /** Why parsing stopped; undefined while it continues. */
  get problem(): RowProblem | undefined {
    return this.#problem;
  }

  /** Number of rows passed on so far. */
  get rows(): number {
    return this.#rows;
  }

  /** Processes more bytes. False after a problem. Throws the exceptions of the taker. */
  feed(bytes: Uint8Array): boolean {
    let at = 0;
    while (at < bytes.length && this.#problem === undefined) {
      const state = this.#state;
      if (isWithin(state)) at = this.#text(bytes, at, state);
      else if (isBlank(bytes[at] as number)) at++;
      else at = this.#between(bytes[at] as number, at, state);
    }
    return this.#problem === undefined;
  }

  /** Called after the last byte. True if the report was complete. */
  end(): boolean {
    if (this.#state !== "end" || !this.#hasLabels || !this.#hasTable) this.#problem ??= "malformed";
    return this.#problem === undefined;
  }

  /** Processes a byte between two texts. Returns the next position. */
  #between(byte: number, at: number, state: Between): number {
    const follow: Readonly<Record<number, State>> = STATES[state];
    const next = state === "value" ? this.#valueBegins(byte) : follow[byte];
    if (next === undefined) {
      this.#problem = "malformed";
      return at;
    }
    this.#state = next;
    return isWithin(next) ? at : at + 1;
  }

  #valueBegins(byte: number): State | undefined {
    const isList = byte === OPEN_LIST;
    if (this.#name === "columnLabels") {
      if (this.#hasLabels || !isList) return undefined;
      this.#hasLabels = true;
      return "inLabels";
    }
    if (this.#name === "dataTable") {
      if (this.#hasTable || !isList) return undefined;
      this.#hasTable = true;
      return "firstRow";
    }
    return "inOther";
  }

  /** Finds the end of the current text. Returns the next position. */
  #text(bytes: Uint8Array, from: number, state: Within): number {
    let at = from;
    while (at < bytes.length) {
      if (this.#quoted) {
        at = this.#string(bytes, at);
        if (!this.#quoted && this.#depth === 0) return this.#textEnds(bytes, from, at, state);
        continue;
      }
      const byte = bytes[at] as number;
      const closes = byte === CLOSE || byte === CLOSE_LIST;
      // A number or word ends before the following character.
      if (this.#depth === 0 && (closes || byte === COMMA || isBlank(byte)))
        return this.#textEnds(bytes, from, at, state);
      at++;
      if (byte === QUOTE) this.#quoted = true;
      else if (byte === OPEN || byte === OPEN_LIST) this.#depth++;
      else if (closes && --this.#depth === 0) return this.#textEnds(bytes, from, at, state);
    }
    this.#append(bytes, from, at);
    return at;
  }

  /**
   * Position after the quote that ends the string, or the end of the bytes. Uses native search,
   * because most of a report is strings.
   */
  #string(bytes: Uint8Array, from: number): number {
    let at = from;
    for (;;) {
      const found = bytes.indexOf(QUOTE, at);
      const end = found < 0 ? bytes.length : found;
      let first = end;
      while (first > at && bytes[first - 1] === BACKSLASH) first--;
      // Backslashes before the start of this search continue from the previous piece.
      const escapes = end - first + (first === at && this.#escaped ? 1 : 0);
      this.#escaped = escapes % 2 === 1;
      if (found < 0) return end;
      at = end + 1;
      if (!this.#escaped) {
        this.#quoted = false;
        return at;
      }
      this.#escaped = false;
    }
  }

  #append(bytes: Uint8Array, from: number, to: number): void {
    const needed = this.#used + to - from;
    if (needed > this.#limit) {
      // Skipped texts may have any size.
      if (this.#state !== "inOther") this.#problem = "too large";
      this.#used = this.#limit + 1;
      return;
    }
    if (needed > this.#partial.length) {
      const grown = new Uint8Array(
        Math.min(this.#limit, Math.max(needed, this.#partial.length * 2, FIRST_BYTES)),
      );
      grown.set(this.#partial.subarray(0, this.#used));
      this.#partial = grown;
    }
    this.#partial.set(bytes.subarray(from, to), this.#used);
    this.#used = needed;
  }

  #textEnds(bytes: Uint8Array, from: number, to: number, state: Within): number {
    // A text that came in one piece is parsed in place.
    const whole = this.#used === 0 && to - from <= this.#limit;
    if (!whole) this.#append(bytes, from, to);
    const skipped = !whole && this.#used > this.#limit;
    if (this.#problem === undefined) {
      const lies = whole ? bytes.subarray(from, to) : this.#partial.subarray(0, this.#used);
      const value = skipped ? null : parse(lies);
      if (value === undefined || !this.#take(value, state)) this.#problem ??= "malformed";
    }
    this.#used = 0;
    return to;
  }

  /** False if the value is invalid here. */
  #take(value: unknown, state: Within): boolean {
    switch (state) {
      case "inName":
        this.#name = value as string;
        this.#state = "colon";
        return true;
      case "inLabels":
        this.#state = "after";
        if (!Array.isArray(value) || !value.every((label) => typeof label === "string")) return false;
        if (this.#taker.labels?.(value) === false) this.#problem = "given up";
        return true;
      case "inRow":
        this.#state = "afterRow";
        if (!isRow(value)) return false;
        this.#rows++;
        if (this.#taker.row(value) === false) this.#problem = "given up";
        return true;
      default:
        this.#state = "after";
        return true;
    }
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined if the bytes are not JSON. */
const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
};

const isWithin = (state: State): state is Within => {
  return state === "inName" || state === "inLabels" || state === "inOther" || state === "inRow";
};

/** Rejects numbers beyond a double: they would become Infinity. */
const isRow = (value: unknown): value is Row =>
  Object.values(value as object).every((cell) =>
    typeof cell === "number" ? Number.isFinite(cell) : cell === null || typeof cell !== "object",
  );

const isBlank = (byte: number): boolean => {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
};
