// Finds `id` and `method` at the top level of an object that was truncated or is invalid further
// on:
//
//   {"id":7,"method":"setLed","params":{"on":tr
//
// A state table, one character at a time, in linear time; stops at the first invalid character.

/** The members as JSON text (`7`, `"setLed"`). */
export interface Found {
  id: string | undefined;
  method: string | undefined;
}

type State =
  | "start"
  | "key"
  | "name"
  | "colon"
  | "value"
  | "text"
  | "word"
  | "inner"
  | "innerText"
  | "after"
  | "end";

interface Scan extends Found {
  /** The name of the next value, or undefined if it is irrelevant. */
  wanted: "id" | "method" | undefined;
  token: string;
  escaped: boolean;
  depth: number;
}

const SPACE = " \t\n\r";
/** Maximum length of a stored token; longer ones count as not found. */
const MAX_NAME = 40;
const MAX_VALUE = 1024;

/** Scans until both are found, the text ends, or it is invalid. The last of equal names counts. */
export const findMembers = (text: string): Found => {
  const scan: Scan = {
    id: undefined,
    method: undefined,
    wanted: undefined,
    token: "",
    escaped: false,
    depth: 0,
  };
  let state: State = "start";
  for (const char of text) {
    state = STEP[state](scan, char);
    if (state === "end" || (scan.id !== undefined && scan.method !== undefined)) break;
  }
  return { id: scan.id, method: scan.method };
};

const beginName = (scan: Scan, char: string): State => {
  if (SPACE.includes(char)) return "key";
  if (char !== '"') return "end";
  scan.token = char;
  return "name";
};

const endName = (scan: Scan): State => {
  const name = jsonOf(scan.token);
  scan.wanted = name === "id" || name === "method" ? name : undefined;
  return "colon";
};

const beginValue = (scan: Scan, char: string): State => {
  if (SPACE.includes(char)) return "value";
  scan.token = char;
  if (char === '"') return "text";
  if (char !== "{" && char !== "[") return "word";
  scan.depth = 1;
  return "inner";
};

const endValue = (scan: Scan): State => {
  if (scan.wanted !== undefined && scan.token !== "") scan[scan.wanted] = scan.token;
  return "after";
};

const stepWord = (scan: Scan, char: string): State => {
  if (!SPACE.includes(char) && char !== "," && char !== "}") {
    keep(scan, char, MAX_VALUE);
    return "word";
  }
  endValue(scan);
  return char === "," ? "key" : char === "}" ? "end" : "after";
};

const stepInner = (scan: Scan, char: string): State => {
  if (char === '"') return "innerText";
  if (char === "{" || char === "[") scan.depth++;
  if (char === "}" || char === "]") scan.depth--;
  return scan.depth === 0 ? "after" : "inner";
};

/** True at the quote that ends a string. */
const endsText = (scan: Scan, char: string, limit: number): boolean => {
  keep(scan, char, limit);
  if (scan.escaped) scan.escaped = false;
  else if (char === "\\") scan.escaped = true;
  else return char === '"';
  return false;
};

const keep = (scan: Scan, char: string, limit: number): void => {
  // An empty token is one that exceeded the limit.
  if (scan.token !== "") scan.token = scan.token.length < limit ? scan.token + char : "";
};

const STEP: { readonly [state in State]: (scan: Scan, char: string) => State } = {
  start: (_, char) => (SPACE.includes(char) ? "start" : char === "{" ? "key" : "end"),
  key: beginName,
  name: (scan, char) => (endsText(scan, char, MAX_NAME) ? endName(scan) : "name"),
  colon: (_, char) => (SPACE.includes(char) ? "colon" : char === ":" ? "value" : "end"),
  value: beginValue,
  text: (scan, char) => (endsText(scan, char, MAX_VALUE) ? endValue(scan) : "text"),
  word: stepWord,
  inner: stepInner,
  innerText: (scan, char) => (endsText(scan, char, 0) ? "inner" : "innerText"),
  after: (_, char) => (SPACE.includes(char) ? "after" : char === "," ? "key" : "end"),
  end: () => "end",
};

/** The value of a JSON text, or undefined. */
export const jsonOf = (token: string | undefined): unknown => {
  if (token === undefined) return undefined;
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
};
