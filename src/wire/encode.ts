// The application's values as JSON text: the same text on XS and on Node, checked while it is written.
//
// `stored`: what the platform types and stores (telemetry, client attributes). `free`: parameters and answers of RPC, passed on as they are.
import { MAX_DEPTH } from "./json.js";
import { isPlainKey, keyFlaw } from "./keys.js";
import { longText, numberText } from "./numbers.js";
import { quote, quoteBriefly } from "./text.js";

export type Encoded =
  | { readonly ok: true; readonly text: string }
  /** `reason` is a sentence that names the key; `tooLarge` tells a value that is fine but for its size. */
  | { readonly ok: false; readonly reason: string; readonly tooLarge: boolean };

interface State {
  readonly stored: boolean;
  /** The objects that the one at hand stands in. */
  readonly parents: object[];
  /** Characters left. */
  room: number;
  reason: string;
  path: string;
  tooLarge: boolean;
}

const tagOf = Object.prototype.toString;

/**
 * Writes any value. Refused: undefined, functions, symbols, NaN, Infinity, BigInt beyond 64 bits, cycles, more than 32 levels, what is no plain
 * data (a Date, Map, typed array, Promise, ...), text beyond `limit` characters. `toJSON` is not called; fields of class instances count.
 * `stored` also refuses |x| >= 2^63 and null as a member (the platform drops it; in an array it stays) and shortens numbers;
 * `free` leaves numbers as they are, drops members that are undefined, and writes them as null in an array.
 */
export function encodeJson(value: unknown, manner: "stored" | "free", limit: number): Encoded {
  const state: State = {
    stored: manner === "stored",
    parents: [],
    room: limit,
    reason: "",
    path: "",
    tooLarge: false,
  };
  try {
    const text = encodeAny(value, state);
    if (text !== undefined) return { ok: true, text };
  } catch {
    // A getter or a proxy of the application threw.
    state.reason = "holds a value that can't be read";
    state.path = "";
  }
  const subject = state.path === "" ? "it" : state.path;
  return { ok: false, reason: `${subject} ${state.reason}`, tooLarge: state.tooLarge };
}

function refuse(state: State, reason: string): undefined {
  state.reason = reason;
  return undefined;
}

function encodeAny(value: unknown, state: State): string | undefined {
  switch (typeof value) {
    case "string":
      return encodeText(value, state);
    case "number":
      return encodeNumber(value, state);
    case "boolean":
      return spend(value ? "true" : "false", state);
    case "bigint": {
      const text = longText(value);
      return text === undefined ? refuse(state, "is beyond 64 bits") : spend(text, state);
    }
    case "object":
      return value === null ? spend("null", state) : encodeObject(value, state);
    case "undefined":
      return refuse(state, "is undefined");
    default:
      return refuse(state, `is a ${typeof value}`);
  }
}

function spend(text: string, state: State): string | undefined {
  state.room -= text.length;
  if (state.room >= 0) return text;
  state.tooLarge = true;
  return refuse(state, "is too large");
}

function encodeText(value: string, state: State): string | undefined {
  // Before it is copied.
  return value.length > state.room ? spend(value, state) : spend(quote(value), state);
}

function encodeNumber(value: number, state: State): string | undefined {
  if (!Number.isFinite(value)) return refuse(state, `is ${value}`);
  const text = state.stored ? numberText(value) : String(value);
  return text === undefined ? refuse(state, `is ${value}, beyond 64 bits`) : spend(text, state);
}

function encodeObject(value: object, state: State): string | undefined {
  if (state.parents.length >= MAX_DEPTH) return refuse(state, `is nested deeper than ${MAX_DEPTH} levels`);
  if (state.parents.includes(value)) return refuse(state, "refers to itself");
  if (spend("{}", state) === undefined) return undefined;
  state.parents.push(value);
  const text = Array.isArray(value) ? encodeItems(value, state) : encodeMembers(value, state);
  state.parents.pop();
  return text;
}

function encodeItems(items: unknown[], state: State): string | undefined {
  let text = "[";
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const written = encodeAny(item === undefined && !state.stored ? null : item, state);
    if (written === undefined) {
      state.path = `[${i}]${state.path}`;
      return undefined;
    }
    state.room--;
    text += i === 0 ? written : `,${written}`;
  }
  return `${text}]`;
}

function encodeMembers(object: object, state: State): string | undefined {
  const tag = tagOf.call(object);
  if (tag !== "[object Object]") {
    return refuse(state, `is of type ${tag.slice(8, -1)}, which JSON can't hold`);
  }
  const top = state.parents.length === 1;
  let text = "{";
  for (const key of Object.keys(object)) {
    const value = (object as Record<string, unknown>)[key];
    if (value === undefined && !state.stored) continue;
    const written = encodeMember(key, value, top, state);
    if (written === undefined) {
      state.path = `${top ? "" : "."}${quoteBriefly(key)}${state.path}`;
      return undefined;
    }
    text += text === "{" ? written : `,${written}`;
  }
  return `${text}}`;
}

function encodeMember(key: string, value: unknown, top: boolean, state: State): string | undefined {
  const plain = isPlainKey(key);
  if (state.stored) {
    const flaw = plain || !top ? undefined : keyFlaw(key);
    if (flaw !== undefined) return refuse(state, flaw);
    if (value === null) return refuse(state, "is null, which the platform drops");
  }
  const name = plain ? spend(`"${key}"`, state) : encodeText(key, state);
  if (name === undefined) return undefined;
  state.room -= 2;
  const written = encodeAny(value, state);
  return written === undefined ? undefined : `${name}:${written}`;
}
