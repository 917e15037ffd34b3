// Parses JSON from a peer: depth is limited before parsing, and the result is safe to copy.

/** Any JSON value. Integers beyond 2^53 lose their last digits. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** Look up names with `Object.hasOwn`: every object has names such as `constructor`. */
export type JsonObject = { [key: string]: Json };

export type Parsed =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly reason: JsonProblem };
export type JsonProblem = "malformed" | "too-deep";

/**
 * Maximum nesting of values from a peer or the application. XS's parser overflows its stack near
 * 500.
 */
export const MAX_DEPTH = 32;

/**
 * Parses any text. Never throws. Checks the depth first, in linear time. Removes members named
 * `__proto__`, so that copying the value is safe. The last of equal names counts. Limit the length
 * before.
 */
export const parseJson = (text: string, maxDepth = MAX_DEPTH): Parsed => {
  if (isDeeper(text, maxDepth)) return { ok: false, reason: "too-deep" };
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return { ok: false, reason: "malformed" };
  }
  // The name may be written with escapes.
  if (text.includes("__proto__") || text.includes("\\u")) dropProto(value);
  return { ok: true, value };
};

/** Like `parseJson`, but undefined unless the text is an object. */
export const parseObject = (text: string): JsonObject | undefined => {
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
};

/** True for an object that is neither an array nor null. */
export const isObject = (value: unknown): value is JsonObject => {
  return typeof value === "object" && value !== null && !Array.isArray(value);
};

/**
 * Counts brackets outside strings up to `maxDepth`. Does not use an index, which is quadratic on
 * XS.
 */
const isDeeper = (text: string, maxDepth: number): boolean => {
  // Most texts have fewer brackets than levels allowed, which native search finds.
  if (brackets(text, "{", maxDepth) + brackets(text, "[", maxDepth) <= maxDepth) return false;
  let depth = 0;
  let quoted = false;
  let escaped = false;
  for (const char of text) {
    if (quoted) {
      if (escaped) escaped = false;
      else if (char === "\\") escaped = true;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") {
      depth++;
      if (depth > maxDepth) return true;
    } else if (char === "}" || char === "]") depth--;
  }
  return false;
};

/** Number of occurrences, at most `most` + 1. */
const brackets = (text: string, bracket: string, most: number): number => {
  let count = 0;
  for (let at = text.indexOf(bracket); at >= 0 && count <= most; at = text.indexOf(bracket, at + 1)) count++;
  return count;
};

/** No recursion and no spread: a board's engine aborts when its stack of 640 slots is full. */
const dropProto = (root: Json): void => {
  const waiting: Json[] = [root];
  for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
    if (typeof value !== "object" || value === null) continue;
    // biome-ignore lint/suspicious/noProto: a member of this name, as JSON.parse makes it.
    if (!Array.isArray(value) && Object.hasOwn(value, "__proto__")) delete value.__proto__;
    for (const member of Object.values<Json>(value)) {
      if (typeof member === "object" && member !== null) waiting.push(member);
    }
  }
};
