// Finds `id` and `method` at the top level of an object that was cut, or that is no JSON further on:
//
//   {"id":7,"method":"setLed","params":{"on":tr
//
// One character at a time over a table of states, in linear time; stops at the first character that fits nowhere.

/** The members as the JSON texts they were written in (`7`, `"setLed"`). */
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
  /** The member whose value is next, or undefined if it is of no interest. */
  wanted: "id" | "method" | undefined;
  token: string;
  escaped: boolean;
  depth: number;
}

const SPACE = " \t\n\r";
/** Longest token that is kept: beyond, it is skipped and counts as not found. */
const MAX_NAME = 40;
const MAX_VALUE = 1024;

/** Looks through the text until both are found, or it ends, or makes no sense. Of members of one name before that the last counts. */
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
  // An empty token is one that grew too long.
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

/** The value that a JSON text writes, or undefined. */
export const jsonOf = (token: string | undefined): unknown => {
  if (token === undefined) return undefined;
  try {
    return JSON.parse(token);
  } catch {
    return undefined;
  }
};
