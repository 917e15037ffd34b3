// Small stored values: a format number, the CRC-32 of the text (4 bytes), and JSON text.
//
// A value of another format is logged, and kept beside the new one when this agent writes its own.
// Members may be added within a format; other versions ignore them. A new format must wait for
// confirmation of the image: on trial, write the old format, so that the previous image can read it
// after a rollback.
import type { Host, Store } from "./port.js";
import { crcOf } from "./wire/crypto/crc32.js";
import { type Json, parseJson } from "./wire/text/json.js";

/** The part of a host that stored values need. */
export type StoreHost = Pick<Host, "store" | "encode" | "decode" | "log" | "loops">;

/** What was logged about a storage that fails. */
export interface StorageLog {
  /** Log nothing: a sleeping device did so in an earlier wake. */
  isSilent: boolean;
  hasLogged: boolean;
  /** Keys of values that could not be stored: each is logged once, until it can be stored again. */
  failing: string[];
}

/** A store, with its log: hosts are copied, their store is one. */
export interface LoggedStore extends Store {
  storageLog?: StorageLog | undefined;
}

export const storageLogOf = ({ store }: { readonly store: LoggedStore }): StorageLog => {
  store.storageLog ??= { isSilent: false, hasLogged: false, failing: [] };
  return store.storageLog;
};

const FORMAT = 1;
/** Bytes before the text. */
const HEAD_BYTES = 5;
/** Of a value, as the port allows. */
const MAX_BYTES = 4000;
/** Values without which a device is unreachable: stored twice, up to this size. */
const VITAL = ["token", "wifi", "site"];
const VITAL_BYTES = 512;

/**
 * Key for the last value of another format, or for the second copy of a vital one. A reset deletes
 * both.
 */
const copyKey = (key: string): string => `${key}-old`;

/** The JSON value of `key`; undefined if missing, damaged or of another format. */
export const readStored = (host: StoreHost, key: string): Json | undefined => {
  const bytes = host.store.get(key);
  const value = bytes && parse(host, bytes);
  if (value !== undefined) return value;
  const copy = VITAL.includes(key) ? host.store.get(copyKey(key)) : undefined;
  const spare = copy && parse(host, copy);
  if (copy && spare !== undefined) {
    host.log("warn", `stored value "${key}" is damaged: its copy is used`);
    if (bytes?.[0] === FORMAT) host.store.set(key, copy);
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
export const writeStored = (host: StoreHost, key: string, value: unknown): boolean => {
  const { store } = host;
  const bytes = encodeValue(host, JSON.stringify(value));
  const before = store.get(key);
  const isOthers = before !== undefined && before[0] !== FORMAT;
  if (isOthers) store.set(copyKey(key), before);
  const kept = bytes.length <= MAX_BYTES && store.set(key, bytes);
  noteStored(host, key, kept);
  if (!kept || isOthers || !VITAL.includes(key)) return kept;
  if (bytes.length <= VITAL_BYTES) store.set(copyKey(key), bytes);
  else if (store.get(copyKey(key))) store.delete(copyKey(key));
  return true;
};

const noteStored = (host: StoreHost, key: string, isKept: boolean): void => {
  const log = storageLogOf(host);
  if (isKept) {
    if (log.failing.length > 0) log.failing = log.failing.filter((failing) => failing !== key);
    return;
  }
  if (log.isSilent || log.failing.includes(key)) return;
  log.failing.push(key);
  log.hasLogged = true;
  host.log("error", `could not store the value "${key}"`);
};

/** Deletes the value and its copy; false if the store keeps one. */
export const forgetStored = (host: StoreHost, key: string): boolean => {
  // Delete the copy first, so that it cannot replace the value.
  const gone = !host.store.get(copyKey(key)) || host.store.delete(copyKey(key));
  return host.store.delete(key) && gone;
};

/** The text of a stored value, which may be damaged; undefined if it is not UTF-8. */
export const storedText = (host: Pick<Host, "decode">, bytes: Uint8Array): string | undefined =>
  host.decode(bytes.subarray(HEAD_BYTES));

const parse = (host: StoreHost, bytes: Uint8Array): Json | undefined => {
  if (bytes[0] !== FORMAT || bytes.length < HEAD_BYTES) return undefined;
  const head = headOf(host, bytes.subarray(HEAD_BYTES));
  for (let i = 0; i < HEAD_BYTES; i++) if (bytes[i] !== head[i]) return undefined;
  const text = storedText(host, bytes);
  const parsed = text === undefined ? undefined : parseJson(text);
  return parsed?.ok ? parsed.value : undefined;
};

const encodeValue = (host: StoreHost, text: string): Uint8Array => {
  const body = host.encode(text);
  const bytes = new Uint8Array(HEAD_BYTES + body.length);
  bytes.set(headOf(host, body));
  bytes.set(body, HEAD_BYTES);
  return bytes;
};

const headOf = (host: StoreHost, body: Uint8Array): Uint8Array => {
  const crc = crcOf(host, body);
  return Uint8Array.of(FORMAT, crc, crc >>> 8, crc >>> 16, crc >>> 24);
};
