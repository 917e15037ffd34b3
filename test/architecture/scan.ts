// A small scanner of TypeScript: enough to judge the house rules without a compiler.

export type Kind = "word" | "number" | "string" | "template" | "regexp" | "punctuation";

export interface Token {
  readonly kind: Kind;
  readonly text: string;
  readonly line: number;
  /** True in a function's or a class's body, and in an arrow function without braces. */
  readonly inFunction: boolean;
  /** How many brackets of any kind are open. */
  readonly depth: number;
}

const SPACE = /\s+|\/\/[^\n]*|\/\*.*?\*\//sy;
const WORD = /[#\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /\.?\d(?:[eE][+-]|[\w.])*/y;
const STRING = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/sy;
const REGEXP = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const TEXT = /(?:[^`\\$]|\\.|\$(?!\{))*(?:`|\$\{)/sy;
const PUNCTUATION = /=>|\?\.|\.\.\.|[<>]=|[=!]==?|&&=?|\|\|=?|\?\?=?|\+\+|--|\*\*=?|[-+*/%&|^]=|./sy;

// After these a slash begins a regular expression: an operator, or a word that wants a value.
const BEFORE_VALUE =
  /^(?:[-([{,;:=!&|?+*/%<>^~]|.*=|=>|&&|\|\||\?\?|\.\.\.|return|typeof|case|in|of|do|else|void|throw|new|delete|await|yield)$/;
// After these a brace opens an object and no body.
const BEFORE_OBJECT = /^(?:[=([,:?]|\?\?|\|\||&&|\.\.\.|return|extends|import|export|type|satisfies|as)$/;

const PLAIN = [
  ["word", WORD],
  ["number", NUMBER],
  ["string", STRING],
] as const;
const CODE = new Set<Kind>(["word", "punctuation"]);

interface Open {
  readonly close: string;
  /** Where the scanner was before the bracket, and where it is within. */
  readonly before: boolean;
  readonly inside: boolean;
  readonly template: boolean;
}

class Scanner {
  readonly tokens: Token[] = [];
  readonly #source: string;
  readonly #open: Open[] = [];
  #at = 0;
  #line = 1;
  #inFunction = false;

  constructor(source: string) {
    this.#source = source;
  }

  run(): Token[] {
    while (this.#at < this.#source.length) {
      if (this.#take(SPACE) === undefined) this.#token();
    }
    return this.tokens;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0];
    if (found === undefined || found === "") return undefined;
    this.#at += found.length;
    this.#line += found.split("\n").length - 1;
    return found;
  }

  #add(kind: Kind, text: string): void {
    this.tokens.push({
      kind,
      text,
      line: this.#line,
      inFunction: this.#inFunction,
      depth: this.#open.length,
    });
  }

  /** True if there was one of these here. */
  #plain(): boolean {
    for (const [kind, pattern] of PLAIN) {
      const text = this.#take(pattern);
      if (text === undefined) continue;
      this.#add(kind, text);
      return true;
    }
    return false;
  }

  #token(): void {
    if (this.#plain()) return;
    const last = this.tokens.at(-1);
    const value = last === undefined || (CODE.has(last.kind) && BEFORE_VALUE.test(last.text));
    const regexp = value ? this.#take(REGEXP) : undefined;
    if (regexp !== undefined) this.#add("regexp", regexp);
    else this.#punctuation(this.#take(PUNCTUATION)!, last?.text ?? ";");
  }

  #punctuation(text: string, last: string): void {
    const innermost = this.#open.at(-1);
    if (text === "`") this.#template();
    else if (innermost?.close === text) this.#close(innermost, text);
    else {
      this.#add("punctuation", text);
      // An arrow function without braces lasts until the next comma or semicolon beside it.
      if (text === "=>") this.#inFunction = true;
      else if (text === ";" || text === ",") this.#inFunction = innermost?.inside ?? false;
      else if (text === "(") this.#push(")");
      else if (text === "[") this.#push("]");
      else if (text === "{") this.#push("}", !BEFORE_OBJECT.test(last));
    }
  }

  #push(close: string, body = false, template = false): void {
    const before = this.#inFunction;
    this.#inFunction ||= body;
    this.#open.push({ close, before, inside: this.#inFunction, template });
  }

  #close(innermost: Open, text: string): void {
    this.#open.pop();
    this.#inFunction = innermost.before;
    if (innermost.template) this.#template();
    else this.#add("punctuation", text);
  }

  #template(): void {
    const text = this.#take(TEXT) ?? "";
    this.#add("template", text);
    if (text.endsWith("${")) this.#push("}", false, true);
  }
}

/** Each rule looks at the same files. */
const scanned = new Map<string, readonly Token[]>();

/** The tokens of a source, without comments. A template with values in it becomes one token for each piece of its text. */
export function scan(source: string): readonly Token[] {
  const tokens = scanned.get(source) ?? new Scanner(source).run();
  scanned.set(source, tokens);
  return tokens;
}
