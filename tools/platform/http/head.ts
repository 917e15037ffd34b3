// The head of a request, read as the web server under the platform (Tomcat) reads it: a line may end with LF alone, a header may go on in
// the next line, words may stand apart by more than one blank.

/** A head as it came. Header names are in lower case, in order, with repetitions. */
export interface Head {
  readonly method: string;
  /** What stood between method and version. */
  readonly target: string;
  /** `HTTP/1.1`; empty for a request of the oldest kind, which has no headers. */
  readonly version: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Bytes that it took. */
  readonly length: number;
}

/** Of the whole head, blank line included. */
export const LARGEST_HEAD = 8_192;
const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09] as const;
/** One more, and it is refused. */
const MOST_HEADERS = 100;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const VERSION = /^[HTP/.0-9]+$/;
/** Of these the server's own checks of the path know nothing: a space or the end of the line ends a target. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NO_TARGET = /[\x00-\x20"#<>\\^`{|}\x7f-\uffff]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const NO_VALUE = /[\x00-\x08\x0a-\x1f\x7f]/;

/** The head that `bytes` begin with; `more` if it isn't there yet, `bad` if it never will be one. */
export function readHead(bytes: Uint8Array): Head | "more" | "bad" {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, LARGEST_HEAD)).toString(
    "latin1",
  );
  const head = parse(text);
  return head === "more" && bytes.length >= LARGEST_HEAD ? "bad" : head;
}

/** How many bytes in front belong to no request: empty lines. */
export function blankBefore(bytes: Uint8Array): number {
  let at = 0;
  while (bytes[at] === CR || bytes[at] === LF) at++;
  return at;
}

function parse(text: string): Head | "more" | "bad" {
  const line = lineAt(text, 0);
  if (line === "bad") return "bad";
  if (!line) return isHopeless(text) ? "bad" : "more";
  const words = line.text.split(/[ \t]+/);
  const [method = "", target = "", version = ""] = words;
  if (!(method === "" || TOKEN.test(method)) || target === "" || NO_TARGET.test(target)) return "bad";
  if (words.length > 3 || (words.length === 3 && !VERSION.test(version))) return "bad";
  const start = { method, target, version };
  return version === "" ? { ...start, headers: [], length: line.end } : withHeaders(text, line.end, start);
}

/** A first line that is wrong before it has come to its end. */
function isHopeless(text: string): boolean {
  const [method = "", rest] = text.split(/[ \t]/, 2);
  return !TOKEN.test(method) && (rest !== undefined || method !== "");
}

function withHeaders(
  text: string,
  from: number,
  start: Pick<Head, "method" | "target" | "version">,
): Head | "more" | "bad" {
  const headers: [string, string][] = [];
  for (let at = from; ; ) {
    const line = lineAt(text, at);
    if (line === "bad" || !line) return line ?? "more";
    if (line.text === "") return { ...start, headers, length: line.end };
    at = line.end;
    const name = line.text.slice(0, Math.max(0, line.text.indexOf(":")));
    if (!TOKEN.test(name)) return "bad";
    let value = trim(line.text.slice(name.length + 1));
    for (;;) {
      const next = text.charCodeAt(at);
      if (Number.isNaN(next)) return "more";
      if (next !== SPACE && next !== TAB) break;
      const folded = lineAt(text, at);
      if (folded === "bad" || !folded) return folded ?? "more";
      value = trim(`${value}${text[at]}${trim(folded.text)}`);
      at = folded.end;
    }
    if (NO_VALUE.test(value)) return "bad";
    if (headers.length >= MOST_HEADERS) return "bad";
    headers.push([name.toLowerCase(), value]);
  }
}

function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

/** A line without its end; nothing if its end hasn't come. A CR stands nowhere but before the LF. */
function lineAt(text: string, from: number): { text: string; end: number } | "bad" | undefined {
  const lf = text.indexOf("\n", from);
  const cr = text.indexOf("\r", from);
  if (cr >= 0 && cr + 1 < text.length && cr + 1 !== lf) return "bad";
  if (lf < 0) return undefined;
  return { text: text.slice(from, cr >= 0 && cr < lf ? cr : lf), end: lf + 1 };
}
