// Small values in the store: a format number, JSON text, and a checksum.
//
// A value of another format is logged, and kept beside when this agent has something of its own to
// write. Members may be added to a value within a format: an agent that does not know them leaves them
// out. A new format must wait for the confirmation: an image on trial writes the old one, or the image
// before it would find nothing that it can read when it returns.
//
// The checksum follows the text as 16 characters of JSON white space, so that an older agent reads the
// value as before. A value without white space is an older agent's, and is read without a checksum.
import type { Host } from "./port.js";
import { crc32 } from "./wire/crypto/crc32.js";
import { type Json, parseJson } from "./wire/text/json.js";

const FORMAT = 1;
/** The white space of JSON: space, tab, line feed, return. Each stands for two bits. */
const BLANKS = [0x20, 0x09, 0x0a, 0x0d];
const SUM_BYTES = 16;
/** Without these a device can't be reached any more: they are kept twice, up to so many bytes. */
const VITAL = ["token", "wifi", "site"];
const VITAL_BYTES = 512;

/** Where the last value of another format is kept, or the second copy of a vital one. A reset deletes both. */
const beside = (key: string): string => `${key}-old`;

/** The JSON value under `key`; undefined if there is none, or it is damaged, or of another format. */
export const readStored = (host: Host, key: string): Json | undefined => {
  const bytes = host.store.get(key);
  const value = bytes && parse(host, bytes);
  if (value !== undefined) return value;
  const copy = VITAL.includes(key) ? host.store.get(beside(key)) : undefined;
  const spare = copy && parse(host, copy);
  if (copy && spare !== undefined) {
    host.log("warn", `stored value "${key}" is damaged: its copy is used`);
    if (bytes?.[0] === FORMAT) host.store.set(key, copy);
  } else if (bytes)
    host.log("warn", `stored value "${key}" is damaged, or has an unknown format: left alone until replaced`);
  return spare;
};

/** As `readStored`; in place of a value that another agent wrote the last one that was of this format, if it is still there. */
export const readOwn = (host: Host, key: string): Json | undefined => {
  const found = readStored(host, key);
  return found === undefined && host.store.get(key) ? readStored(host, beside(key)) : found;
};

/** Replaces the value under `key`; false if it could not be kept. `quiet`: that was said before. */
export const writeStored = (host: Host, key: string, value: unknown, quiet = false): boolean => {
  const { store } = host;
  const bytes = sealed(host.encode(String.fromCharCode(FORMAT) + JSON.stringify(value)));
  const before = store.get(key);
  const isOthers = before !== undefined && before[0] !== FORMAT;
  if (isOthers) store.set(beside(key), before);
  const kept = store.set(key, bytes);
  if (!kept && !quiet) host.log("error", `stored value "${key}" could not be written`);
  if (!kept || isOthers || !VITAL.includes(key)) return kept;
  if (bytes.length <= VITAL_BYTES) store.set(beside(key), bytes);
  else if (store.get(beside(key))) store.delete(beside(key));
  return true;
};

/** Leaves nothing of the value; false if the store keeps it. */
export const forgetStored = (host: Host, key: string): boolean => {
  // The copy first: it must not come back for the value.
  const gone = !host.store.get(beside(key)) || host.store.delete(beside(key));
  return host.store.delete(key) && gone;
};

const parse = (host: Host, bytes: Uint8Array): Json | undefined => {
  const text = bytes[0] === FORMAT && isIntact(bytes) ? host.decode(bytes.subarray(1)) : undefined;
  const parsed = text === undefined ? undefined : parseJson(text);
  return parsed?.ok ? parsed.value : undefined;
};

/** `bytes` and their checksum. */
const sealed = (bytes: Uint8Array): Uint8Array => {
  const { length } = bytes;
  const all = new Uint8Array(length + SUM_BYTES);
  all.set(bytes);
  const sum = crc32(bytes);
  for (let i = 0; i < SUM_BYTES; i++) all[length + i] = BLANKS[(sum >>> (2 * i)) & 3] as number;
  return all;
};

/** The checksum is right, or there is none. */
const isIntact = (bytes: Uint8Array): boolean => {
  let end = bytes.length;
  let sum = 0;
  while (end > 0 && bytes.length - end < SUM_BYTES) {
    const bits = BLANKS.indexOf(bytes[end - 1] as number);
    if (bits < 0) break;
    end--;
    sum = (sum << 2) | bits;
  }
  return end === bytes.length || (bytes.length - end === SUM_BYTES && sum >>> 0 === crc32(bytes, 0, end));
};
