// What the store keeps of a device's trust: `trust`, and a value for each authority that was added, `trust-1` to `trust-3` (DER).
//
// All of it changes with `trust`, which is one value: certificates that it does not name are not trusted, so they are written before it, and forgotten after.

import type { Host } from "../../../src/port.js";
import { readOwn, writeStored } from "../../../src/store.js";
import { isObject, type Json } from "../../../src/wire/text/json.js";
import { MOST } from "./announcement.js";
import { type Authority, sha256 } from "./authority.js";

const STATE = "trust";
/** Dropped ones that are kept in mind: an image of before may have another `ca` built in. */
const MOST_DROPPED = 16;
const slotKey = (slot: number): string => `${STATE}-${slot}`;

export interface Kept {
  /** Stands for what the owner had given when it was written, "": nothing. With anything else all begins again, but for the sequence. */
  readonly by: string;
  /** Of the announcement that was taken last, and the SHA-256 of what was signed. */
  readonly sequence: number;
  readonly digest: string;
  /** Where they are, and the SHA-256 of each. */
  readonly added: readonly (readonly [slot: number, sha256: string])[];
  /** Of those that were given or built in: not trusted any more. */
  readonly dropped: readonly string[];
  /** To be dropped once a handshake by another succeeded. */
  readonly waiting: readonly string[];
}

export type Keeper = Pick<Host, "store" | "encode" | "decode" | "digest" | "log" | "clock">;

/** As kept, for a device whose owner gave `by`. */
export const readTrust = (keeper: Keeper, by: string): Kept => {
  const found = readOwn(keeper as Host, STATE);
  const stored = isObject(found) ? found : {};
  const { sequence, digest, added } = stored;
  const last = typeof sequence === "number" ? sequence : 0;
  // What was announced last is taken once more, and nothing older.
  if (stored.by !== by)
    return { by, sequence: Math.max(0, last - 1), digest: "", added: [], dropped: [], waiting: [] };
  return {
    by,
    sequence: last,
    digest: typeof digest === "string" ? digest : "",
    added: Array.isArray(added) ? added.filter(isAdded).filter((one) => readWhole(keeper, one)) : [],
    dropped: texts(stored.dropped),
    waiting: texts(stored.waiting),
  };
};

/** Those that were added, as far as they are whole. */
export const readAdded = (keeper: Keeper, { added }: Kept): Authority[] =>
  added.flatMap((one) => readWhole(keeper, one) ?? []);

const readWhole = (keeper: Keeper, [slot, id]: Kept["added"][number]): Authority | undefined => {
  const der = keeper.store.get(slotKey(slot));
  return der && sha256(keeper, der) === id ? { id, der } : undefined;
};

/** Keeps `kept`, with `fresh` beside those that it names; false if that failed: then nothing has changed. */
export const writeTrust = (keeper: Keeper, kept: Kept, fresh: readonly Authority[]): boolean => {
  const added = kept.added.slice();
  for (const { id, der } of fresh) {
    const slot = freeSlot(added);
    if (slot === undefined || !keeper.store.set(slotKey(slot), der)) return false;
    added.push([slot, id]);
  }
  const dropped = kept.dropped.slice(-MOST_DROPPED);
  if (!writeStored(keeper as Host, STATE, { ...kept, added, dropped })) return false;
  forgetOthers(keeper, added);
  return true;
};

/** What a power loss left behind, or was dropped. */
const forgetOthers = ({ store }: Keeper, added: Kept["added"]): void => {
  for (let slot = 1; slot <= MOST; slot++)
    if (!added.some(([used]) => used === slot) && store.get(slotKey(slot))) store.delete(slotKey(slot));
};

const freeSlot = (added: Kept["added"]): number | undefined => {
  for (let slot = 1; slot <= MOST; slot++) if (!added.some(([used]) => used === slot)) return slot;
  return undefined;
};

const isAdded = (value: Json): value is [number, string] => {
  const [slot, id] = Array.isArray(value) ? value : [];
  return typeof slot === "number" && slot >= 1 && slot <= MOST && typeof id === "string";
};

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];
