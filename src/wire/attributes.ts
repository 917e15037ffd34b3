// GET {token}/attributes answers with the groups that have something; nothing found is {}:
//
//   {"client":{"serial":"A-113"},"shared":{"interval":30}}
//
// GET {token}/attributes/updates answers with one change of shared attributes:
//
//   {"interval":30,"mode":"auto"}
//   {"deleted":["interval"]}
//
// A shared attribute that is itself named `deleted` is distinguished by its type only: alone and holding an array of strings, it reads as a deletion.

import { escapeText } from "./paths.js";
import { isObject, type Json, type JsonObject, parseObject } from "./text/json.js";

export type Attributes =
  | { readonly ok: true; readonly client: JsonObject; readonly shared: JsonObject }
  | { readonly ok: false };

export type Notification =
  | { readonly kind: "updated"; readonly values: JsonObject }
  /** `keys` may name attributes that never existed. */
  | { readonly kind: "deleted"; readonly keys: readonly string[] }
  | { readonly kind: "malformed" };

export type Query =
  | { readonly ok: true; readonly query: string }
  | { readonly ok: false; readonly reason: string };

/** Reads the answer to GET attributes. A group that is absent is empty. */
export const parseAttributes = (text: string): Attributes => {
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

/** Reads what a poll of attributes/updates delivered. */
export const parseNotification = (text: string): Notification => {
  const values = parseObject(text);
  if (!values) return { kind: "malformed" };
  const keys = deletedKeys(values);
  return keys === undefined ? { kind: "updated", values } : { kind: "deleted", keys };
};

const deletedKeys = (value: JsonObject): readonly string[] | undefined => {
  if (!Object.hasOwn(value, "deleted") || Object.keys(value).length !== 1) return undefined;
  const keys = value.deleted;
  return Array.isArray(keys) && keys.every(isText) ? keys : undefined;
};

const isText = (item: Json): item is string => typeof item === "string";

/**
 * The query of GET attributes, with its `?`. Keys that cannot be asked for are refused: empty ones (the platform never answers), and those with a
 * comma (it would look for two). No key at all is refused too: the platform would answer with every attribute there is.
 */
export const attributesQuery = (ask: {
  readonly clientKeys?: readonly string[] | undefined;
  readonly sharedKeys?: readonly string[] | undefined;
}): Query => {
  const client = ask.clientKeys ?? [];
  const shared = ask.sharedKeys ?? [];
  if (!Array.isArray(client) || !Array.isArray(shared))
    return { ok: false, reason: "clientKeys and sharedKeys are arrays of keys" };
  const all: readonly unknown[] = client.concat(shared);
  if (all.length === 0) return { ok: false, reason: "no key is asked for" };
  const unfit = all.findIndex((key) => checkAsked(key) !== undefined);
  if (unfit >= 0) return { ok: false, reason: checkAsked(all[unfit]) as string };
  const part = (name: string, keys: readonly string[]) =>
    keys.length === 0 ? [] : [`${name}=${keys.map(escapeText).join(",")}`];
  return { ok: true, query: `?${part("clientKeys", client).concat(part("sharedKeys", shared)).join("&")}` };
};

/** Says why a key cannot be asked for, or undefined if it can. */
export const checkAsked = (key: unknown): string | undefined => {
  if (typeof key !== "string" || key.trim() === "") return "an empty key can't be asked for";
  if (key === "__proto__")
    return "__proto__ is no key here: members of this name are left out of every answer";
  return key.includes(",") ? "a key with a comma can't be asked for" : undefined;
};

/** Splits a list of keys, in order, so that each part takes `room` bytes of a query at most; a key longer than that stands alone. */
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
