// JSON numbers for people: JSON.parse would round long whole numbers.

const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Every JSON text with a lossy number matches. */
const LONG = /\d{16}|[eE]\+?\d{3}/;
const WHOLE = /^-?\d+$/;

/** The first number of the JSON that a double cannot hold exactly. */
export function lossyNumber(json: string): string | undefined {
  let found: string | undefined;
  replaceNumbers(json, (number) => {
    if (found === undefined && isLossy(number)) found = number;
    return "";
  });
  return found;
}

/** Readers that recurse would end at deeper JSON. */
const DEEPEST = 1_000;

/**
 * JSON.parse, but lossy numbers become text. Throws SyntaxError, and RangeError if it is too deep.
 */
export function parseUnrounded(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (depthOf(json) > DEEPEST) throw new RangeError("the answer is nested too deeply");
  if (!LONG.test(json)) return value;
  return JSON.parse(replaceNumbers(json, (number) => (isLossy(number) ? `"${number}"` : number)));
}

/** Counts brackets outside strings. */
export function depthOf(text: string): number {
  let [depth, deepest, isQuoted] = [0, 0, false];
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (isQuoted) {
      if (sign === "\\") at++;
      else if (sign === '"') isQuoted = false;
    } else if (sign === '"') isQuoted = true;
    else if (sign === "{" || sign === "[") deepest = Math.max(deepest, ++depth);
    else if (sign === "}" || sign === "]") depth--;
  }
  return deepest;
}

/** Replaces numbers outside strings. One regular expression would overflow the stack. */
function replaceNumbers(json: string, replace: (number: string) => string): string {
  let result = "";
  for (let at = 0; at < json.length; ) {
    const start = json.indexOf('"', at);
    const outside = start < 0 ? json.slice(at) : json.slice(at, start);
    result += outside.replace(NUMBER, replace);
    if (start < 0) break;
    at = endOfString(json, start);
    result += json.slice(start, at);
  }
  return result;
}

/** The place behind the string that starts at `start`. */
function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end >= 0; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json[end - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

function isLossy(text: string): boolean {
  const number = Number(text);
  return WHOLE.test(text) ? !Number.isSafeInteger(number) : !Number.isFinite(number);
}
