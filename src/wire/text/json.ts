// JSON from a peer: bounded in depth before it is parsed, harmless afterwards.

/** What JSON can hold. Integers beyond 2^53 lose their last digits, as everywhere in JavaScript. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
/** Look a name up with `Object.hasOwn`: names such as `constructor` are there on every object. */
export type JsonObject = { [key: string]: Json };

export type Parsed =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly reason: JsonProblem };
export type JsonProblem = "malformed" | "too-deep";

/** Levels of arrays and objects that are accepted from a peer or from the application. XS's parser overflows its stack near 500. */
export const MAX_DEPTH = 32;

/**
 * Parses a text of any origin. Never throws. Linear in time and checked for depth before the engine's parser sees it.
 * Members named `__proto__` are left out, so that no copy of the value can take them for a prototype. Of members of one name
 * the last counts. Bound the length before.
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

/** The same for a text that must be an object; undefined if it is none. */
export const parseObject = (text: string): JsonObject | undefined => {
  const parsed = parseJson(text);
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined;
};

/** True for an object that is neither an array nor null. */
export const isObject = (value: unknown): value is JsonObject => {
  return typeof value === "object" && value !== null && !Array.isArray(value);
};

/** Counts brackets outside strings, as far as `maxDepth`. Not by index: that is quadratic on XS. */
const isDeeper = (text: string, maxDepth: number): boolean => {
  // Most texts hold fewer brackets than there may be levels, which is found out natively.
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

/** How many there are, `most` + 1 at the most. */
const brackets = (text: string, bracket: string, most: number): number => {
  let count = 0;
  for (let at = text.indexOf(bracket); at >= 0 && count <= most; at = text.indexOf(bracket, at + 1)) count++;
  return count;
};

/** No recursion and no spread: a board's engine ends when its stack of 640 slots is full. */
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
