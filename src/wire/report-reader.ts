// Parses the answer of the report API from pieces of any size, storing one row at a time:
//
//   {"columnLabels":["Device","Date","Average"],
//    "dataTable":[{"Device":"greenhouse-7","Date":"1760000000000","Average":21.5},...]}
//
// The two members may come in either order; others are skipped. Measures are numbers, dates are ms
// since 1970 as strings, dimensions are strings; types are not reported.
import type { Host } from "../port.js";
import type { Cell, RowTaker } from "./report.js";
import { isObject, type JsonObject, MAX_DEPTH, parseJson } from "./text/json.js";

/**
 * `malformed`: not an answer of this API. `too large`: a row, or the labels, beyond the limit.
 * `given up`: by the taker.
 */
export type ReportProblem = "malformed" | "too large" | "given up";

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

export class ReportReader {
  private readonly _host: Pick<Host, "decode">;
  private readonly _taker: RowTaker;
  private readonly _limit: number;
  private _state: State = "start";
  private _name = "";
  private _hasLabels = false;
  private _hasTable = false;
  /** The beginning of a text that came in pieces. */
  private _partial = NOTHING;
  private _used = 0;
  private _depth = 0;
  private _quoted = false;
  /** The last piece ended with a backslash that escapes the next character. */
  private _escaped = false;
  private _rows = 0;
  private _problem: ReportProblem | undefined;

  /** `limit`: maximum size of one row, and of the labels, in bytes. */
  constructor(host: Pick<Host, "decode">, limit: number, taker: RowTaker) {
    this._host = host;
    this._limit = limit;
    this._taker = taker;
  }

  /** Why parsing stopped; undefined while it continues. */
  get problem(): ReportProblem | undefined {
    return this._problem;
  }

  /** Number of rows passed on so far. */
  get rows(): number {
    return this._rows;
  }

  /** Processes more bytes. False after a problem. Throws the exceptions of the taker. */
  feed(bytes: Uint8Array): boolean {
    let at = 0;
    while (at < bytes.length && this._problem === undefined) {
      const state = this._state;
      if (isWithin(state)) at = this._text(bytes, at, state);
      else if (isBlank(bytes[at] as number)) at++;
      else at = this._between(bytes[at] as number, at, state);
    }
    return this._problem === undefined;
  }

  /** Called after the last byte. True if the report was complete. */
  end(): boolean {
    if (this._state !== "end" || !this._hasLabels || !this._hasTable) this._problem ??= "malformed";
    return this._problem === undefined;
  }

  /** Processes a byte between two texts. Returns the next position. */
  private _between(byte: number, at: number, state: Between): number {
    const follow: Readonly<Record<number, State>> = STATES[state];
    const next = state === "value" ? this._valueBegins(byte) : follow[byte];
    if (next === undefined) {
      this._problem = "malformed";
      return at;
    }
    this._state = next;
    return isWithin(next) ? at : at + 1;
  }

  private _valueBegins(byte: number): State | undefined {
    const isList = byte === OPEN_LIST;
    if (this._name === "columnLabels") {
      if (this._hasLabels || !isList) return undefined;
      this._hasLabels = true;
      return "inLabels";
    }
    if (this._name === "dataTable") {
      if (this._hasTable || !isList) return undefined;
      this._hasTable = true;
      return "firstRow";
    }
    return "inOther";
  }

  /** Finds the end of the current text. Returns the next position. */
  private _text(bytes: Uint8Array, from: number, state: Within): number {
    let at = from;
    while (at < bytes.length) {
      if (this._quoted) {
        at = this._string(bytes, at);
        if (!this._quoted && this._depth === 0) return this._textEnds(bytes, from, at, state);
        continue;
      }
      const byte = bytes[at] as number;
      const closes = byte === CLOSE || byte === CLOSE_LIST;
      // A number or word ends before the following character.
      if (this._depth === 0 && (closes || byte === COMMA || isBlank(byte)))
        return this._textEnds(bytes, from, at, state);
      at++;
      if (byte === QUOTE) this._quoted = true;
      else if (byte === OPEN || byte === OPEN_LIST) this._depth++;
      else if (closes && --this._depth === 0) return this._textEnds(bytes, from, at, state);
    }
    this._append(bytes, from, at);
    return at;
  }

  /**
   * Position after the quote that ends the string, or the end of the bytes. Uses native search,
   * because most of a report is strings.
   */
  private _string(bytes: Uint8Array, from: number): number {
    let at = from;
    for (;;) {
      const found = bytes.indexOf(QUOTE, at);
      const end = found < 0 ? bytes.length : found;
      let first = end;
      while (first > at && bytes[first - 1] === BACKSLASH) first--;
      // Backslashes before the start of this search continue from the previous piece.
      const escapes = end - first + (first === at && this._escaped ? 1 : 0);
      this._escaped = escapes % 2 === 1;
      if (found < 0) return end;
      at = end + 1;
      if (!this._escaped) {
        this._quoted = false;
        return at;
      }
      this._escaped = false;
    }
  }

  private _append(bytes: Uint8Array, from: number, to: number): void {
    const needed = this._used + to - from;
    if (needed > this._limit) {
      // Skipped texts may have any size.
      if (this._state !== "inOther") this._problem = "too large";
      this._used = this._limit + 1;
      return;
    }
    if (needed > this._partial.length) {
      const grown = new Uint8Array(
        Math.min(this._limit, Math.max(needed, this._partial.length * 2, FIRST_BYTES)),
      );
      grown.set(this._partial.subarray(0, this._used));
      this._partial = grown;
    }
    this._partial.set(bytes.subarray(from, to), this._used);
    this._used = needed;
  }

  private _textEnds(bytes: Uint8Array, from: number, to: number, state: Within): number {
    // A text that came in one piece is parsed in place.
    const whole = this._used === 0 && to - from <= this._limit;
    if (!whole) this._append(bytes, from, to);
    const skipped = !whole && this._used > this._limit;
    if (this._problem === undefined) {
      const lies = whole ? bytes.subarray(from, to) : this._partial.subarray(0, this._used);
      const text = skipped ? "null" : this._host.decode(lies);
      if (text === undefined || !this._take(text, state)) this._problem ??= "malformed";
    }
    this._used = 0;
    return to;
  }

  /** False if the text is invalid here. */
  private _take(text: string, state: Within): boolean {
    const parsed = parseJson(text, state === "inOther" ? MAX_DEPTH : 1);
    if (!parsed.ok) return false;
    const { value } = parsed;
    switch (state) {
      case "inName":
        this._name = value as string;
        this._state = "colon";
        return true;
      case "inLabels":
        this._state = "after";
        if (!Array.isArray(value) || !value.every((label) => typeof label === "string")) return false;
        if (this._taker.labels?.(value) === false) this._problem = "given up";
        return true;
      case "inRow":
        this._state = "afterRow";
        if (!isObject(value) || !isRow(value)) return false;
        this._rows++;
        if (this._taker.row(value) === false) this._problem = "given up";
        return true;
      default:
        this._state = "after";
        return true;
    }
  }
}

const isWithin = (state: State): state is Within => {
  return state === "inName" || state === "inLabels" || state === "inOther" || state === "inRow";
};

/** Rejects numbers beyond a double: they would become Infinity. */
const isRow = (row: JsonObject): row is { [label: string]: Cell } => {
  return Object.keys(row).every((label) => typeof row[label] !== "number" || Number.isFinite(row[label]));
};

const isBlank = (byte: number): boolean => {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
};
