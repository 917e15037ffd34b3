// Small values in the store. Each begins with a format number, so that an older or newer agent knows what it can't read: that is logged, and kept
// beside when this agent has something of its own to write.
//
// Members may be added to a value within a format: who does not know them leaves them out. A new format must wait for the confirmation: an
// image on trial writes the old one, or the image before it would find nothing that it can read when it returns.
import type { Host } from "./port.js";
import { type Json, parseJson } from "./wire/text/json.js";

const FORMAT = 1;

/** Where the last value of another format is kept. */
const beside = (key: string): string => `${key}-old`;

/** The JSON value under `key`, or undefined if there is none, or none that this format can read. */
export const readStored = (host: Host, key: string): Json | undefined => {
  const bytes = host.store.get(key);
  if (!bytes) return undefined;
  const text = bytes[0] === FORMAT ? host.decode(bytes.subarray(1)) : undefined;
  const parsed = text === undefined ? undefined : parseJson(text);
  if (parsed?.ok) return parsed.value;
  host.log("warn", `stored value "${key}" has an unknown format and is left alone until it is replaced`);
  return undefined;
};

/** As `readStored`; in place of a value that another agent wrote the last one that was of this format, if it is still there. */
export const readOwn = (host: Host, key: string): Json | undefined => {
  const found = readStored(host, key);
  return found === undefined && host.store.get(key) ? readStored(host, beside(key)) : found;
};

/** Replaces the value under `key`; false if it could not be kept. `quiet`: that was said before. */
export const writeStored = (host: Host, key: string, value: unknown, quiet = false): boolean => {
  const bytes = host.encode(String.fromCharCode(FORMAT) + JSON.stringify(value));
  const before = host.store.get(key);
  if (before && before[0] !== FORMAT) host.store.set(beside(key), before);
  const kept = host.store.set(key, bytes);
  if (!kept && !quiet) host.log("error", `stored value "${key}" could not be written`);
  return kept;
};

/** Leaves nothing of the value; false if the store keeps it. */
export const forgetStored = (host: Host, key: string): boolean => {
  const gone = host.store.delete(key);
  return (!host.store.get(beside(key)) || host.store.delete(beside(key))) && gone;
};
