// Small values in the store. Each begins with a format number, so that an older or newer agent knows what it can't read:
// such a value is kept as it is and told.
import type { Host } from "../port.js";
import { type Json, parseJson } from "../wire/json.js";

const FORMAT = 1;

/** The JSON value under `key`, or undefined if there is none, or none that this format can read. */
export function readStored(host: Host, key: string): Json | undefined {
  const bytes = host.store.get(key);
  if (!bytes) return undefined;
  const text = bytes[0] === FORMAT ? host.decode(bytes.subarray(1)) : undefined;
  const parsed = text === undefined ? undefined : parseJson(text);
  if (parsed?.ok) return parsed.value;
  host.log("warn", `stored value "${key}" has an unknown format and is left alone until it is replaced`);
  return undefined;
}

/** Replaces the value under `key`; false if it could not be kept. `quiet`: that was said before. */
export function writeStored(host: Host, key: string, value: unknown, quiet = false): boolean {
  const text = host.encode(JSON.stringify(value));
  const bytes = new Uint8Array(text.length + 1);
  bytes[0] = FORMAT;
  bytes.set(text, 1);
  const kept = host.store.set(key, bytes);
  if (!kept && !quiet) host.log("error", `stored value "${key}" could not be written`);
  return kept;
}
