// Encodes and validates the application's values as JSON, with the same text on XS and Node.
//
// `stored`: values that the platform types and stores (telemetry, client attributes). `free`:
// parameters and answers of RPC, passed on unchanged.

import { isPlainKey, keyProblem } from "../keys.js";
import { MAX_DEPTH } from "./json.js";
import { longText, numberText } from "./numbers.js";
import { quote, quoteShortened } from "./text.js";

export type Encoded =
  | { readonly ok: true; readonly text: string }
  /** `reason` is a sentence with the key. `tooLarge`: only the size is wrong. */
  | { readonly ok: false; readonly reason: string; readonly tooLarge: boolean };

/** An object or array in progress. */
interface Level {
  readonly value: object;
  /** Undefined for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  /** Index of the current member. */
  at: number;
  text: string;
}

interface State {
  readonly stored: boolean;
  /**
   * From the outermost to the current level. A list instead of recursion, which would overflow the
   * engine's stack.
   */
  readonly levels: Level[];
  /** Remaining characters. */
  room: number;
  reason: string;
  tooLarge: boolean;
}

const tagOf = Object.prototype.toString;

/**
 * Encodes any value.
 * Rejects undefined, functions, symbols, NaN, Infinity, BigInt beyond 64 bits, cycles, more than 32
 * levels, non-plain objects (Date, Map, typed array, Promise, ...) and text beyond `limit`
 * characters. Does not call `toJSON`; includes fields of class instances.
 * `stored` also rejects |x| >= 2^63 and null members (the platform drops them; nulls in arrays
 * stay), and shortens numbers. `free` keeps numbers, drops undefined members, and writes undefined
 * in arrays as null.
 */
export const encodeJson = (value: unknown, manner: "stored" | "free", limit: number): Encoded => {
  const state: State = {
    stored: manner === "stored",
    levels: [],
    room: limit,
    reason: "",
    tooLarge: false,
  };
  let path = "";
  try {
    const text = isNested(value) ? encodeNested(value, state) : encodeScalar(value, state);
    if (text !== undefined) return { ok: true, text };
    for (const level of state.levels) path += stepOf(level, path === "");
  } catch {
    // A getter or proxy of the application threw.
    state.reason = "contains a value that cannot be read";
    path = "";
  }
  return { ok: false, reason: `${path === "" ? "it" : path} ${state.reason}`, tooLarge: state.tooLarge };
};

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

const stepOf = ({ keys, at }: Level, top: boolean): string => {
  return keys ? `${top ? "" : "."}${quoteShortened(keys[at] as string)}` : `[${at}]`;
};

const fail = (state: State, reason: string): undefined => {
  state.reason = reason;
  return undefined;
};

const encodeScalar = (value: unknown, state: State): string | undefined => {
  switch (typeof value) {
    case "string":
      return encodeText(value, state);
    case "number":
      return encodeNumber(value, state);
    case "boolean":
      return spend(value ? "true" : "false", state);
    case "bigint": {
      const text = longText(value);
      return text === undefined ? fail(state, "is beyond 64 bits") : spend(text, state);
    }
    case "object":
      return spend("null", state);
    case "undefined":
      return fail(state, "is undefined");
    default:
      return fail(state, `is a ${typeof value}`);
  }
};

const spend = (text: string, state: State): string | undefined => {
  state.room -= text.length;
  if (state.room >= 0) return text;
  state.tooLarge = true;
  return fail(state, "is too large");
};

const encodeText = (value: string, state: State): string | undefined => {
  // Check before copying.
  return value.length > state.room ? spend(value, state) : spend(quote(value), state);
};

const encodeNumber = (value: number, state: State): string | undefined => {
  if (!Number.isFinite(value)) return fail(state, `is ${value}`);
  const text = state.stored ? numberText(value) : String(value);
  return text === undefined ? fail(state, `is ${value}, beyond 64 bits`) : spend(text, state);
};

const encodeNested = (root: object, state: State): string | undefined => {
  const { levels } = state;
  let level = enter(root, state);
  while (level) {
    const inner = writeMembers(level, state);
    if (inner === undefined) return undefined;
    if (inner !== COMPLETE) {
      level = enter(inner, state);
      continue;
    }
    const text = `${level.text}${level.keys ? "}" : "]"}`;
    levels.pop();
    level = levels[levels.length - 1];
    if (!level) return text;
    level.text += text;
    level.at++;
  }
  return undefined;
};

/** Marks that no member is left. */
const COMPLETE = {};

/** Undefined: the value is rejected. */
const enter = (value: object, state: State): Level | undefined => {
  const { levels } = state;
  if (levels.length >= MAX_DEPTH) return fail(state, `is nested deeper than ${MAX_DEPTH} levels`);
  if (levels.some((outer) => outer.value === value)) return fail(state, "refers to itself");
  if (spend("{}", state) === undefined) return undefined;
  const isArray = Array.isArray(value);
  const tag = isArray ? "" : tagOf.call(value);
  if (!isArray && tag !== "[object Object]")
    return fail(state, `is of type ${tag.slice(8, -1)}, which JSON can't hold`);
  const keys = isArray ? undefined : Object.keys(value);
  const { length } = keys ?? (value as unknown[]);
  const level: Level = { value, keys, length, at: 0, text: isArray ? "[" : "{" };
  levels.push(level);
  return level;
};

/**
 * Writes members up to a nested object or array, which it returns; COMPLETE at the end; undefined
 * if one is rejected.
 */
const writeMembers = (level: Level, state: State): object | undefined => {
  const { keys, length } = level;
  for (; level.at < length; level.at++) {
    const value = keys ? memberOf(level, keys) : (level.value as unknown[])[level.at];
    const isLeftOut = value === undefined && !state.stored;
    if (isLeftOut && keys) continue;
    if (keys && !writeName(keys[level.at] as string, value, level, state)) return undefined;
    if (!keys) separate(level, state);
    if (isNested(value)) return value;
    const written = encodeScalar(isLeftOut ? null : value, state);
    if (written === undefined) return undefined;
    level.text += written;
  }
  return COMPLETE;
};

const memberOf = ({ value, at }: Level, keys: readonly string[]): unknown =>
  (value as Record<string, unknown>)[keys[at] as string];

const separate = (level: Level, state: State): void => {
  state.room--;
  if (level.at > 0) level.text += ",";
};

/** Writes a member of an object with separators. False if it is rejected. */
const writeName = (key: string, value: unknown, level: Level, state: State): boolean => {
  const plain = isPlainKey(key);
  if (state.stored) {
    const problem = plain || state.levels.length > 1 ? undefined : keyProblem(key);
    if (problem !== undefined || value === null) {
      fail(state, problem ?? "is null, which the platform drops");
      return false;
    }
  }
  const name = plain ? spend(`"${key}"`, state) : encodeText(key, state);
  if (name === undefined) return false;
  state.room -= 2;
  level.text += level.text === "{" ? `${name}:` : `,${name}:`;
  return true;
};
