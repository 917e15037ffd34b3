// The platform's JSON parser: Gson 2.13, lenient. Its messages reach devices, so the place and the path that it gives of an error are its own too.

import { type Json, JsonNumber, type JsonObject } from "./json.js";
import { Cursor, END, LF } from "./json-cursor.js";

/** What the platform puts into an error body when a document can't be parsed. */
export class JsonSyntaxError extends Error {
  override name = "JsonSyntaxError";
}

const DEEPEST = 255;
/** Gson reads a longer number as an unquoted text: it looks at no more than one buffer. */
const LONGEST_NUMBER = 1_023;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const ENDS_LITERAL = codes("/\\;#={}[]:, \t\f\r\n");
const HELP = "See https://github.com/google/gson/blob/main/Troubleshooting.md#malformed-json";
const TRAILING = "Use JsonReader.setStrictness(Strictness.LENIENT) to accept malformed JSON";
const ESCAPES: Record<string, string> = {
  ...{ t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" },
  ...{ "\n": "\n", "'": "'", '"': '"', "\\": "\\", "/": "/" },
};
const HEX4 = /^[0-9a-fA-F]{4}$/;
const [QUOTE, APOSTROPHE, BACKSLASH] = [0x22, 0x27, 0x5c] as const;

/** The end of the text where more was expected. */
class EndOfInput extends JsonSyntaxError {}

/**
 * Reads one document. Lenient: unquoted keys and strings, single quotes, `;` for `,`, `=` for `:`, comments, a leading BOM, `)]}'`
 * in front, empty places in a list (null), of equal keys the last. An empty text is null; behind null anything may follow, behind another
 * value not even a comment. Throws JsonSyntaxError.
 */
export function parseJson(text: string): Json {
  return new Reader(text).document();
}

class Reader extends Cursor {
  #nextEscape = -1;
  /** Where the reader is: a place in a list, the last name read in an object (none yet: null). */
  readonly #path: (number | string | null)[] = [];

  document(): Json {
    if (this.text.charCodeAt(0) === 0xfeff) this.lineStart = ++this.at;
    const first = this.#first();
    if (first === END) return null;
    const value = this.#value(first);
    if (value === null) return null;
    if (this.next(false) !== END) this.fail(TRAILING);
    return value;
  }

  /** The sign that the document begins with, behind the guard; END if there is no document. */
  #first(): number {
    const sign = this.next(true);
    if (sign === END || !this.text.startsWith(")]}'\n", this.at - 1)) return sign;
    this.at += 4;
    return this.next(true);
  }

  /** `sign` begins it, and has been read. */
  #value(sign: number): Json {
    switch (sign) {
      case 0x7b: // {
        return this.#object();
      case 0x5b: // [
        return this.#list();
      case QUOTE:
      case APOSTROPHE:
        return this.#quoted(sign);
      case 0x5d: // ]
      case 0x3b: // ;
      case 0x2c: // ,
        return this.fail("Unexpected value");
      default:
        this.at--;
        return this.#literal();
    }
  }

  #object(): JsonObject {
    const members: JsonObject = new Map();
    this.#enter(null);
    let sign = this.#needed();
    while (sign !== 0x7d || members.size > 0) {
      if (sign === 0x7d) this.fail("Expected name");
      const key = this.#name(sign);
      this.#path[this.#path.length - 1] = key;
      this.#colon();
      members.set(key, this.#value(this.#needed()));
      sign = this.#needed();
      if (sign === 0x7d) break;
      if (sign !== 0x2c && sign !== 0x3b) this.fail("Unterminated object");
      sign = this.#needed();
    }
    this.#path.pop();
    return members;
  }

  #name(sign: number): string {
    if (sign === QUOTE || sign === APOSTROPHE) return this.#quoted(sign);
    this.at--;
    return this.#word() || this.fail("Expected name");
  }

  #colon(): void {
    const sign = this.#needed();
    if (sign === 0x3d) {
      if (this.text.charCodeAt(this.at) === 0x3e) this.at++;
    } else if (sign !== 0x3a) this.fail("Expected ':'");
  }

  #list(): Json[] {
    const items: Json[] = [];
    this.#enter(0);
    let sign = this.#needed();
    while (sign !== 0x5d || items.length > 0) {
      const isEmpty = sign === 0x2c || sign === 0x3b || sign === 0x5d;
      if (isEmpty) this.at--;
      items.push(isEmpty ? null : this.#value(sign));
      this.#path[this.#path.length - 1] = items.length;
      sign = this.#needed();
      if (sign === 0x5d) break;
      if (sign !== 0x2c && sign !== 0x3b) this.fail("Unterminated array");
      sign = this.#needed();
    }
    this.#path.pop();
    return items;
  }

  #enter(place: number | null): void {
    if (this.#path.length >= DEEPEST)
      throw new JsonSyntaxError(malformed(`Nesting limit ${DEEPEST} reached`, this.#place()));
    this.#path.push(place);
  }

  #literal(): Json {
    const word = this.#word();
    if (word === "") return this.fail("Expected value");
    if (word.length <= LONGEST_NUMBER && NUMBER.test(word)) return new JsonNumber(word);
    if (word.length > 5) return word;
    const lower = word.toLowerCase();
    if (lower === "true") return true;
    if (lower === "false") return false;
    return lower === "null" ? null : word;
  }

  #word(): string {
    const start = this.at;
    while (this.at < this.length && ENDS_LITERAL[this.text.charCodeAt(this.at)] !== 1) this.at++;
    return this.text.slice(start, this.at);
  }

  #quoted(quote: number): string {
    const start = this.at;
    const end = this.text.indexOf(quote === QUOTE ? '"' : "'", start);
    if (end < 0 || this.#escapeFrom(start) < end) return this.#escaped(quote);
    this.countLines(start, end);
    this.at = end + 1;
    return this.text.slice(start, end);
  }

  /** Where the next escape is; found once for all texts before it. */
  #escapeFrom(at: number): number {
    if (this.#nextEscape < at) {
      const found = this.text.indexOf("\\", at);
      this.#nextEscape = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    return this.#nextEscape;
  }

  #escaped(quote: number): string {
    let text = "";
    let from = this.at;
    while (this.at < this.length) {
      const sign = this.text.charCodeAt(this.at++);
      if (sign === quote) return text + this.text.slice(from, this.at - 1);
      if (sign === LF) this.newLine();
      if (sign !== BACKSLASH) continue;
      text += this.text.slice(from, this.at - 1) + this.#escape();
      from = this.at;
    }
    return this.fail("Unterminated string");
  }

  #escape(): string {
    const sign = this.text[this.at++];
    if (sign === undefined) {
      this.at--;
      return this.fail("Unterminated escape sequence");
    }
    if (sign === "u") {
      const digits = this.text.slice(this.at, this.at + 4);
      if (digits.length < 4) this.fail("Unterminated escape sequence");
      if (!HEX4.test(digits)) this.fail(`Malformed Unicode escape \\u${digits}`);
      this.at += 4;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    if (sign === "\n") this.newLine();
    return ESCAPES[sign] ?? this.fail("Invalid escape sequence");
  }

  #needed(): number {
    const sign = this.next(true);
    if (sign === END) throw new EndOfInput(`java.io.EOFException: End of input${this.#place()}`);
    return sign;
  }

  protected override fail(what: string): never {
    throw new JsonSyntaxError(`${malformed(what, this.#place())}\n${HELP}`);
  }

  #place(): string {
    const path = this.#path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step ?? ""}`));
    return ` at line ${this.lines + 1} column ${this.at - this.lineStart + 1} path $${path.join("")}`;
  }
}

function malformed(what: string, place: string): string {
  return `com.google.gson.stream.MalformedJsonException: ${what}${place}`;
}

/** A table of 1 for each of these ASCII characters. */
function codes(signs: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const sign of signs) table[sign.charCodeAt(0)] = 1;
  return table;
}
