// JSON as the platform reads it: leniently, and with numbers kept as they were spelt, because the type of a value hangs on that.

/** A number as it was spelt. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonObject = Map<string, Json>;
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

/** What the platform puts into an error body when a document can't be parsed. */
export class JsonSyntaxError extends Error {
  override name = "JsonSyntaxError";
}

const DEEPEST = 255;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const ENDS_WORD = codes("/\\;#=:,{}[] \t\f\r\n");
const ESCAPES: Record<string, string> = {
  ...{ t: "\t", b: "\b", n: "\n", r: "\r", f: "\f" },
  ...{ "\n": "\n", "'": "'", '"': '"', "\\": "\\", "/": "/" },
};
/** What white space and comments begin with, by character code. */
const BEGINS_BLANK = codes(" \t\r\n#/");
const HEX4 = /^[0-9a-fA-F]{4}$/;
const HELP = "See https://github.com/google/gson/blob/main/Troubleshooting.md#malformed-json";

/**
 * Reads one document. Lenient: unquoted keys and strings, single quotes, `;` for `,`, `=` for `:`, comments, a leading BOM, `)]}'`
 * in front, empty places in a list (null), of equal keys the last. An empty text is null. Throws JsonSyntaxError.
 */
export function parseJson(text: string): Json {
  return new Reader(text).document();
}

class Reader {
  readonly #text: string;
  #at = 0;
  #nextEscape = -1;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#at++;
    this.#blank();
    if (this.#text.startsWith(")]}'\n", this.#at)) this.#at += 5;
    this.#blank();
    if (this.#at >= this.#text.length) return null;
    const value = this.#value(0);
    this.#blank();
    if (this.#at < this.#text.length) this.#fail("Expected EOF");
    return value;
  }

  #value(depth: number): Json {
    const sign = this.#text[this.#at];
    if (sign === undefined) return this.#end();
    if ((sign === "{" || sign === "[") && depth >= DEEPEST) this.#fail(`Nesting limit ${DEEPEST} reached`);
    if (sign === "{") return this.#object(depth + 1);
    if (sign === "[") return this.#list(depth + 1);
    if (sign === '"' || sign === "'") return this.#quoted(sign);
    return literal(this.#word());
  }

  #object(depth: number): JsonObject {
    const members: JsonObject = new Map();
    this.#at++;
    this.#blank();
    if (this.#take("}")) return members;
    for (;;) {
      const key = this.#key();
      this.#blank();
      if (this.#take("=")) this.#take(">");
      else if (!this.#take(":")) this.#fail("Expected ':'");
      this.#blank();
      members.set(key, this.#value(depth));
      this.#blank();
      if (this.#take("}")) return members;
      if (!this.#take(",") && !this.#take(";")) this.#fail("Unterminated object");
      this.#blank();
    }
  }

  #key(): string {
    const sign = this.#text[this.#at];
    if (sign === '"' || sign === "'") return this.#quoted(sign);
    if (sign === undefined || ENDS_WORD[sign.charCodeAt(0)] === 1) return this.#fail("Expected name");
    return this.#word();
  }

  #list(depth: number): Json[] {
    const items: Json[] = [];
    this.#at++;
    this.#blank();
    if (this.#take("]")) return items;
    for (;;) {
      const sign = this.#text[this.#at];
      items.push(sign === "," || sign === ";" || sign === "]" ? null : this.#value(depth));
      this.#blank();
      if (this.#take("]")) return items;
      if (!this.#take(",") && !this.#take(";")) this.#fail("Unterminated array");
      this.#blank();
    }
  }

  #quoted(quote: string): string {
    const start = ++this.#at;
    const end = this.#text.indexOf(quote, start);
    if (end >= 0 && this.#escapeFrom(start) > end) {
      this.#at = end + 1;
      return this.#text.slice(start, end);
    }
    return this.#escaped(quote);
  }

  /** Where the next escape is; found once for all texts before it. */
  #escapeFrom(at: number): number {
    if (this.#nextEscape < at) {
      const found = this.#text.indexOf("\\", at);
      this.#nextEscape = found < 0 ? Number.POSITIVE_INFINITY : found;
    }
    return this.#nextEscape;
  }

  #escaped(quote: string): string {
    let text = "";
    let from = this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at];
      if (sign === quote) {
        text += this.#text.slice(from, this.#at++);
        return text;
      }
      if (sign !== "\\") continue;
      text += this.#text.slice(from, this.#at) + this.#escape();
      from = this.#at + 1;
    }
    return this.#fail("Unterminated string");
  }

  /** Leaves the place at the last character of the escape. */
  #escape(): string {
    const sign = this.#text[++this.#at] ?? "";
    if (sign === "u") {
      const digits = this.#text.slice(this.#at + 1, this.#at + 5);
      if (!HEX4.test(digits)) this.#fail(`Malformed Unicode escape \\u${digits}`);
      this.#at += 4;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    return ESCAPES[sign] ?? this.#fail("Invalid escape sequence");
  }

  #word(): string {
    const text = this.#text;
    const from = this.#at;
    let at = from;
    while (at < text.length && ENDS_WORD[text.charCodeAt(at)] !== 1) at++;
    this.#at = at;
    if (at === from) this.#fail("Expected value");
    return text.slice(from, at);
  }

  #take(sign: string): boolean {
    if (this.#text.charCodeAt(this.#at) !== sign.charCodeAt(0)) return false;
    this.#at++;
    return true;
  }

  /** Skips white space and comments. */
  #blank(): void {
    if (BEGINS_BLANK[this.#text.charCodeAt(this.#at)] === 1) this.#skipBlanks();
  }

  #skipBlanks(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const sign = this.#text[this.#at];
      const next = this.#text[this.#at + 1];
      if (sign === "#" || (sign === "/" && next === "/")) this.#skipTo("\n", this.#text.length);
      else if (sign === "/" && next === "*") this.#skipTo("*/");
      else if (sign !== " " && sign !== "\t" && sign !== "\n" && sign !== "\r") return;
    }
  }

  /** Leaves the place at the last character of `end`. */
  #skipTo(end: string, otherwise?: number): void {
    const found = this.#text.indexOf(end, this.#at + end.length);
    if (found < 0 && otherwise === undefined) this.#fail("Unterminated comment");
    this.#at = found < 0 ? (otherwise as number) : found + end.length - 1;
  }

  #end(): never {
    throw new JsonSyntaxError(`java.io.EOFException: End of input ${this.#place()}`);
  }

  #fail(what: string): never {
    if (this.#at >= this.#text.length && what.startsWith("Expected")) return this.#end();
    const text = `com.google.gson.stream.MalformedJsonException: ${what} ${this.#place()}\n${HELP}`;
    throw new JsonSyntaxError(text);
  }

  #place(): string {
    const before = this.#text.slice(0, this.#at).split("\n");
    return `at line ${before.length} column ${(before.at(-1)?.length ?? 0) + 1}`;
  }
}

/** A table of 1 for each of these ASCII characters. */
function codes(signs: string): Uint8Array {
  const table = new Uint8Array(128);
  for (const sign of signs) table[sign.charCodeAt(0)] = 1;
  return table;
}

function literal(word: string): Json {
  if (NUMBER.test(word)) return new JsonNumber(word);
  const lower = word.toLowerCase();
  if (lower === "true") return true;
  if (lower === "false") return false;
  if (lower === "null") return null;
  return word;
}

/** The text of a value; `dropNulls` leaves out members that are null (not places in a list). */
export function jsonText(value: Json, dropNulls = false): string {
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item, dropNulls)).join(",")}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  const members: string[] = [];
  for (const [key, member] of value) {
    if (dropNulls && member === null) continue;
    members.push(`${JSON.stringify(key)}:${jsonText(member, dropNulls)}`);
  }
  return `{${members.join(",")}}`;
}
