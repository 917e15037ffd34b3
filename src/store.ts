// Small stored values: a format number, JSON text and a checksum.
//
// A value of another format is logged, and kept beside the new one when this agent writes its own.
// Members may be added within a format; older versions ignore them. A new format must wait for
// confirmation of the image: on trial, write the old format, so that the previous image can read it
// after a rollback.
//
// The checksum follows the text as 16 characters of JSON white space, so that older versions can
// read the value. A value without them was written by an older version.
import type { Host } from "./port.js";
import { crcOf } from "./wire/crypto/crc32.js";
import { type Json, parseJson } from "./wire/text/json.js";

/** The part of a host that stored values need. */
export type StoreHost = Pick<Host, "store" | "encode" | "decode" | "log" | "loops">;

const FORMAT = 1;
/** JSON white space: space, tab, line feed, return. Each encodes two bits. */
const WHITE_SPACE = [0x20, 0x09, 0x0a, 0x0d];
const SUM_BYTES = 16;
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

/**
 * Replaces the value of `key`. False if storing failed, or if the value is too large. `quiet`: do
 * not log the failure.
 */
export const writeStored = (host: StoreHost, key: string, value: unknown, quiet = false): boolean => {
  const { store } = host;
  const bytes = withChecksum(host, host.encode(String.fromCharCode(FORMAT) + JSON.stringify(value)));
  const before = store.get(key);
  const isOthers = before !== undefined && before[0] !== FORMAT;
  if (isOthers) store.set(copyKey(key), before);
  const kept = bytes.length <= MAX_BYTES && store.set(key, bytes);
  if (!kept && !quiet) host.log("error", `could not store the value "${key}"`);
  if (!kept || isOthers || !VITAL.includes(key)) return kept;
  if (bytes.length <= VITAL_BYTES) store.set(copyKey(key), bytes);
  else if (store.get(copyKey(key))) store.delete(copyKey(key));
  return true;
};

/** Deletes the value and its copy; false if the store keeps one. */
export const forgetStored = (host: StoreHost, key: string): boolean => {
  // Delete the copy first, so that it cannot replace the value.
  const gone = !host.store.get(copyKey(key)) || host.store.delete(copyKey(key));
  return host.store.delete(key) && gone;
};

const parse = (host: StoreHost, bytes: Uint8Array): Json | undefined => {
  const text = bytes[0] === FORMAT && isIntact(host, bytes) ? host.decode(bytes.subarray(1)) : undefined;
  const parsed = text === undefined ? undefined : parseJson(text);
  return parsed?.ok ? parsed.value : undefined;
};

/** `bytes` followed by their checksum. */
const withChecksum = (host: StoreHost, bytes: Uint8Array): Uint8Array => {
  const { length } = bytes;
  const all = new Uint8Array(length + SUM_BYTES);
  all.set(bytes);
  const sum = crcOf(host, bytes);
  for (let i = 0; i < SUM_BYTES; i++) all[length + i] = WHITE_SPACE[(sum >>> (2 * i)) & 3] as number;
  return all;
};

/** True if the checksum is right or missing. */
const isIntact = (host: StoreHost, bytes: Uint8Array): boolean => {
  let end = bytes.length;
  let sum = 0;
  while (end > 0 && bytes.length - end < SUM_BYTES) {
    const bits = WHITE_SPACE.indexOf(bytes[end - 1] as number);
    if (bits < 0) break;
    end--;
    sum = (sum << 2) | bits;
  }
  return (
    end === bytes.length ||
    (bytes.length - end === SUM_BYTES && sum >>> 0 === crcOf(host, bytes.subarray(0, end)))
  );
};
