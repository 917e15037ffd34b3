// Encodes and validates the application's values as JSON, with the same text on XS and Node.
//
// `stored`: values that the platform types and stores (telemetry, client attributes). `free`:
// parameters and answers of RPC, passed on unchanged.

import { isPlainKey, keyProblem } from "../keys.js";
import { MAX_DEPTH } from "./json.js";
import { longText, numberText } from "./numbers.js";
import { quote, quoteShortened } from "./text.js";

export type Encoded =
  | {
      readonly ok: true;
      readonly text: string;
      /** Missing if the text holds the whole value. */
      readonly leftOut?: LeftOut;
    }
  /** `reason` is a sentence with the key. `tooLarge`: only the size is wrong. */
  | {
      readonly ok: false;
      readonly reason: string;
      readonly tooLarge: boolean;
      readonly leftOut?: LeftOut;
    };

/** Members that JSON or the platform cannot hold. */
export interface LeftOut {
  /** Their number. */
  count: number;
  /** The first one of each outermost key, at most `MOST_NAMED`. */
  readonly named: { readonly key: string; readonly reason: string; readonly tooLarge: boolean }[];
}

/** Maximum number of keys that `LeftOut` names. */
const MOST_NAMED = 8;

/** An object or array in progress. */
interface Level {
  readonly value: object;
  /** Undefined for an array. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  /** Index of the current member. */
  at: number;
  text: string;
  /** `text` before the current member, and the room at that time. */
  textBefore: string;
  roomBefore: number;
  /** Number of members written, and of those left out. */
  written: number;
  leftOut: number;
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
  leftOut: LeftOut | undefined;
  /** Number of members that may still be left out, because each costs time but no room. */
  patience: number;
}

const tagOf = Object.prototype.toString;
const TOO_LARGE = "is too large";
const UNREADABLE = "contains a value that cannot be read";

/**
 * Encodes any value, without the members that JSON cannot hold.
 *
 * Left out are undefined, functions, symbols, NaN, Infinity, BigInt beyond 64 bits, cycles, more
 * than 32 levels, non-plain objects (Date, Map, typed array, Promise, ...) and members that throw
 * when read. In an array, null takes their place. An object or array of which nothing is left is
 * left out itself; `ok` is false if that is the outermost one. Does not call `toJSON`; includes
 * fields of class instances.
 *
 * `stored` also leaves out |x| >= 2^63 and null members (the platform drops them; nulls in arrays
 * stay), invalid keys, and outermost members that exceed `limit` characters; it shortens numbers.
 * `free` keeps numbers, drops undefined members uncounted, writes undefined in arrays as null, and
 * refuses text beyond `limit`.
 */
export const encodeJson = (value: unknown, manner: "stored" | "free", limit: number): Encoded => {
  const state: State = {
    stored: manner === "stored",
    levels: [],
    room: limit,
    reason: "",
    tooLarge: false,
    leftOut: undefined,
    patience: limit,
  };
  let text: string | undefined;
  try {
    text = isNested(value) ? encodeNested(value, state) : encodeScalar(value, state);
  } catch {
    // A proxy of the application threw.
    state.reason = UNREADABLE;
  }
  const { leftOut, tooLarge } = state;
  if (text !== undefined) return leftOut ? { ok: true, text, leftOut } : { ok: true, text };
  if (!leftOut) return { ok: false, reason: `it ${state.reason}`, tooLarge };
  const [first] = leftOut.named;
  return { ok: false, reason: first?.reason ?? "", tooLarge: tooLarge || first?.tooLarge === true, leftOut };
};

const isNested = (value: unknown): value is object => typeof value === "object" && value !== null;

const stepOf = ({ keys, at }: Level, top: boolean): string => {
  return keys ? `${top ? "" : "."}${quoteShortened(keys[at] as string)}` : `[${at}]`;
};

const NULL = "null";

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
      return spend(NULL, state);
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
  return fail(state, TOO_LARGE);
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
  if (!enter(root, state)) return undefined;
  for (;;) {
    const level = levels[levels.length - 1] as Level;
    let inner: object | undefined;
    try {
      inner = writeMembers(level, state);
      if (inner && inner !== level && enter(inner, state)) continue;
    } catch {
      state.reason = UNREADABLE;
      inner = level;
    }
    // Only nulls of an array are written without asking for room.
    if (!inner && state.room < 0) inner = tooLarge(level, state);
    // The current member is an object that cannot be entered, or it threw when it was read.
    if (inner) {
      if (!leaveOut(state)) return undefined;
      continue;
    }
    levels.pop();
    const outer = levels[levels.length - 1];
    const isEmpty = level.written === 0 && level.leftOut > 0;
    if (!outer) return isEmpty ? undefined : level.text + endOf(level);
    if (isEmpty) undo(outer, state);
    else {
      outer.text += level.text + endOf(level);
      outer.written++;
      outer.at++;
    }
  }
};

const tooLarge = (level: Level, state: State): Level => {
  state.tooLarge = true;
  state.reason = TOO_LARGE;
  return level;
};

const endOf = ({ keys }: Level): string => (keys ? "}" : "]");

/** False: the value is rejected. */
const enter = (value: object, state: State): boolean => {
  const { levels } = state;
  if (levels.length >= MAX_DEPTH) return refuse(state, `is nested deeper than ${MAX_DEPTH} levels`);
  if (levels.some((outer) => outer.value === value)) return refuse(state, "refers to itself");
  const isArray = Array.isArray(value);
  const tag = isArray ? "" : tagOf.call(value);
  if (!isArray && tag !== "[object Object]")
    return refuse(state, `is of type ${tag.slice(8, -1)}, which JSON can't hold`);
  const keys = isArray ? undefined : Object.keys(value);
  const { length } = keys ?? (value as unknown[]);
  if (spend("{}", state) === undefined) return false;
  const text = isArray ? "[" : "{";
  const roomBefore = state.room;
  levels.push({ value, keys, length, at: 0, text, textBefore: text, roomBefore, written: 0, leftOut: 0 });
  return true;
};

const refuse = (state: State, reason: string): false => {
  state.reason = reason;
  return false;
};

/**
 * Writes members up to a nested object or array, which it returns, or up to one that is rejected,
 * for which it returns the level itself. Undefined at the end.
 */
const writeMembers = (level: Level, state: State): object | undefined => {
  const { keys, length } = level;
  for (; level.at < length; level.at++) {
    level.textBefore = level.text;
    level.roomBefore = state.room;
    const value = keys ? memberOf(level, keys) : (level.value as unknown[])[level.at];
    const isDropped = value === undefined && !state.stored;
    if (isDropped && keys) continue;
    if (keys && !writeName(keys[level.at] as string, value, level, state)) return level;
    if (!keys) separate(level, state);
    if (isNested(value)) return value;
    const written = encodeScalar(isDropped ? null : value, state);
    if (written === undefined) return level;
    level.text += written;
    level.written++;
  }
  return undefined;
};

/**
 * Leaves out the current member of the innermost level, and counts it. A member that is too large
 * takes its outermost one along. False if the whole value is rejected.
 */
const leaveOut = (state: State): boolean => {
  const { levels } = state;
  if (state.patience-- <= 0 && levels.length > 1) tooLarge(levels[0] as Level, state);
  const isTooLarge = state.tooLarge;
  if (isTooLarge && !state.stored) return false;
  if (isTooLarge) levels.length = 1;
  const [outermost] = levels as [Level];
  const key = outermost.keys?.[outermost.at] ?? "";
  state.leftOut ??= { count: 0, named: [] };
  const { named } = state.leftOut;
  state.leftOut.count++;
  if (named.length < MOST_NAMED && named[named.length - 1]?.key !== key) {
    let path = "";
    for (const level of levels) path += stepOf(level, path === "");
    named.push({ key, reason: `${path} ${state.reason}`, tooLarge: isTooLarge });
  }
  state.tooLarge = false;
  undo(levels[levels.length - 1] as Level, state);
  return true;
};

/** Removes what was written of the current member. An array gets null in its place. */
const undo = (level: Level, state: State): void => {
  level.text = level.textBefore;
  state.room = level.roomBefore;
  if (!level.keys) {
    separate(level, state);
    state.room -= NULL.length;
    level.text += NULL;
  }
  level.leftOut++;
  level.at++;
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
