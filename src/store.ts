// Small values in the store (sealed.ts). A value of another format is logged, and kept beside the
// new one when this agent writes or deletes its own.
import type { Host, Store } from "./port.js";
import { isOwnFormat, type SealHost, seal, unseal } from "./sealed.js";
import type { Json } from "./wire/text/json.js";

/** The part of a host that stored values need. */
export type StoreHost = SealHost & Pick<Host, "store" | "log">;

/** What was logged about a storage that fails. */
export interface StorageLog {
  /** Log nothing: a sleeping device did so in an earlier wake. */
  isSilent: boolean;
  hasLogged: boolean;
  /** Keys of values that could not be stored: each is logged once, until it can be stored again. */
  failing: string[];
  /** Keys that this run has written, so that their values are of this format. */
  written: string[];
}

/** A store, with its log: hosts are copied, their store is one. */
export interface LoggedStore extends Store {
  storageLog?: StorageLog | undefined;
}

export const storageLogOf = ({ store }: { readonly store: LoggedStore }): StorageLog => {
  store.storageLog ??= { isSilent: false, hasLogged: false, failing: [], written: [] };
  return store.storageLog;
};

/** Of a value, as the port allows. */
const MAX_BYTES = 4000;
/** Values without which a device is unreachable: stored twice, up to this size. */
const VITAL = ["token", "wifi", "platform"];
const VITAL_BYTES = 512;

/**
 * Key for the last value of another format, or for the second copy of a vital one. A reset deletes
 * both.
 */
const copyKey = (key: string): string => `${key}-old`;

/** The JSON value of `key`; undefined if missing, damaged or of another format. */
export const readStored = (host: StoreHost, key: string): Json | undefined => {
  const bytes = host.store.get(key);
  const value = bytes && unseal(host, bytes);
  if (value !== undefined) return value;
  const copy = VITAL.includes(key) ? host.store.get(copyKey(key)) : undefined;
  const spare = copy && unseal(host, copy);
  if (copy && spare !== undefined) {
    host.log("warn", `stored value "${key}" is damaged: its copy is used`);
    if (bytes && isOwnFormat(bytes)) host.store.set(key, copy);
  } else if (bytes)
    host.log(
      "warn",
      `stored value "${key}" is damaged or has an unknown format: ignored until it is replaced`,
    );
  return spare;
};

/**
 * Like `readStored`, but instead of another version's value returns the last one of this format.
 */
export const readOwn = (host: StoreHost, key: string): Json | undefined => {
  const found = readStored(host, key);
  return found === undefined && host.store.get(key) ? readStored(host, copyKey(key)) : found;
};

/** Replaces the value of `key`. False if storing failed, or if the value is too large. */
export const writeStored = (host: StoreHost, key: string, value: unknown): boolean =>
  writeText(host, key, JSON.stringify(value));

/** Like `writeStored`, of a value as JSON text. */
export const writeText = (host: StoreHost, key: string, json: string): boolean => {
  const { store } = host;
  const bytes = seal(host, json);
  const { written } = storageLogOf(host);
  const isOwn = written.includes(key);
  const isOthers = !isOwn && keepOthers(store, key);
  const kept = bytes.length <= MAX_BYTES && store.set(key, bytes);
  noteStored(host, key, kept, bytes.length);
  if (kept && !isOwn) written.push(key);
  if (!kept || isOthers || !VITAL.includes(key)) return kept;
  if (bytes.length <= VITAL_BYTES) store.set(copyKey(key), bytes);
  else if (store.get(copyKey(key))) store.delete(copyKey(key));
  return true;
};

const noteStored = (host: StoreHost, key: string, isKept: boolean, bytes: number): void => {
  const log = storageLogOf(host);
  if (isKept) {
    if (log.failing.length > 0) log.failing = log.failing.filter((failing) => failing !== key);
    return;
  }
  if (log.isSilent || log.failing.includes(key)) return;
  log.failing.push(key);
  log.hasLogged = true;
  const why = bytes > MAX_BYTES ? `: it has ${bytes} bytes, at most ${MAX_BYTES} fit` : "";
  host.log("error", `could not store the value "${key}"${why}`);
};

/** Keeps the value of another format beside the one that replaces it. False if there is none. */
const keepOthers = (store: Store, key: string): boolean => {
  const before = store.get(key);
  if (!before || isOwnFormat(before)) return false;
  store.set(copyKey(key), before);
  return true;
};

/** Deletes a value that is outdated; false if the store keeps it. */
export const deleteStored = (host: StoreHost, key: string): boolean => {
  if (!storageLogOf(host).written.includes(key)) keepOthers(host.store, key);
  return host.store.delete(key);
};

/** Deletes the value and its copy; false if the store keeps one. */
export const forgetStored = ({ store }: StoreHost, key: string): boolean => {
  // Delete the copy first, so that it cannot replace the value.
  const gone = !store.get(copyKey(key)) || store.delete(copyKey(key));
  return store.delete(key) && gone;
};
