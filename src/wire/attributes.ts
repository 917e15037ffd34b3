// GET {token}/attributes answers with the non-empty groups, or {} if nothing was found:
//
//   {"client":{"serial":"A-113"},"shared":{"interval":30}}
//
// GET {token}/attributes/updates answers with one change of shared attributes:
//
//   {"interval":30,"mode":"auto"}
//   {"deleted":["interval"]}
//
// A shared attribute named `deleted` is distinguished only by type: a single member `deleted` with
// an array of strings is a deletion.

import { escapeText } from "./paths.js";
import { isObject, type Json, type JsonObject, parseObject } from "./text/json.js";

export type AttributesAnswer =
  | { readonly ok: true; readonly client: JsonObject; readonly shared: JsonObject }
  | { readonly ok: false };

/** A change of shared attributes. */
export interface Change {
  /** At least one. Deleted ones may never have existed. */
  readonly keys: readonly string[];
  /** Undefined: `keys` were deleted. */
  readonly values: JsonObject | undefined;
}

export type Query =
  | { readonly ok: true; readonly query: string }
  | { readonly ok: false; readonly reason: string };

/** Parses the answer to GET attributes. A missing group is empty. */
export const parseAttributes = (text: string): AttributesAnswer => {
  const answer = parseObject(text);
  const client = answer && group(answer, "client");
  const shared = answer && group(answer, "shared");
  return client && shared ? { ok: true, client, shared } : { ok: false };
};

const group = (value: JsonObject, name: string): JsonObject | undefined => {
  if (!Object.hasOwn(value, name)) return {};
  const found = value[name];
  return isObject(found) ? found : undefined;
};

/** Parses the answer to a poll of attributes/updates; undefined if it is malformed. */
export const parseNotification = (text: string): Change | undefined => {
  const values = parseObject(text);
  const deleted = values && deletedKeys(values);
  const keys = deleted ?? Object.keys(values ?? {});
  return keys.length > 0 ? { keys, values: deleted ? undefined : values } : undefined;
};

const deletedKeys = (value: JsonObject): readonly string[] | undefined => {
  if (!Object.hasOwn(value, "deleted") || Object.keys(value).length !== 1) return undefined;
  const keys = value.deleted;
  return Array.isArray(keys) && keys.every(isText) ? keys : undefined;
};

const isText = (item: Json): item is string => typeof item === "string";

/**
 * The query of GET attributes, including `?`. Rejects keys that cannot be requested: empty ones
 * (the platform never answers), and those with a comma (they would be split). Rejects an empty list
 * too, because the platform would answer with all attributes.
 */
export const attributesQuery = (ask: {
  readonly clientKeys?: readonly string[] | undefined;
  readonly sharedKeys?: readonly string[] | undefined;
}): Query => {
  const client = ask.clientKeys ?? [];
  const shared = ask.sharedKeys ?? [];
  if (!Array.isArray(client) || !Array.isArray(shared))
    return { ok: false, reason: "clientKeys and sharedKeys must be arrays of keys" };
  const all: readonly unknown[] = client.concat(shared);
  if (all.length === 0) return { ok: false, reason: "no keys given" };
  const unfit = all.findIndex((key) => checkAsked(key) !== undefined);
  if (unfit >= 0) return { ok: false, reason: checkAsked(all[unfit]) as string };
  const part = (name: string, keys: readonly string[]) =>
    keys.length === 0 ? [] : [`${name}=${keys.map(escapeText).join(",")}`];
  return { ok: true, query: `?${part("clientKeys", client).concat(part("sharedKeys", shared)).join("&")}` };
};

/** The platform stores no longer keys, and refuses requests whose head exceeds 8 KiB. */
const MAX_KEY = 255;

/** Returns why a key cannot be requested; undefined if it can. */
export const checkAsked = (key: unknown): string | undefined => {
  if (typeof key !== "string" || key.trim() === "") return "invalid key: must not be empty";
  if (key.length > MAX_KEY) return `invalid key: longer than ${MAX_KEY} characters`;
  if (key === "__proto__") return "invalid key: __proto__ is never part of an answer";
  return key.includes(",") ? "invalid key: must not contain a comma" : undefined;
};

/**
 * Splits keys into groups that take at most `room` bytes of a query each. A longer key gets its own
 * group.
 */
export const splitKeys = (keys: readonly string[], room: number): string[][] => {
  const parts: string[][] = [];
  let left = 0;
  keys.forEach((key) => {
    const length = escapeText(key).length + 1;
    const last = parts[parts.length - 1];
    if (last === undefined || length > left) {
      parts.push([key]);
      left = room + 1 - length;
    } else {
      last.push(key);
      left -= length;
    }
  });
  return parts;
};
