// The stored trust of a device: the state, a copy of it, and each CA that was added.
//
// A certificate that the state does not name is not trusted. So certificates are written before the
// state and deleted after it. The copy reveals that a state was lost or damaged; otherwise the
// device would trust dropped CAs again.
import type { Host } from "../../src/port.js";
import { readOwn, writeStored } from "../../src/store.js";
import { isObject, type Json, type JsonObject } from "../../src/wire/text/json.js";
import { MOST, short } from "./announcement.js";
import { type Authority, endOf, sha256 } from "./authority.js";

const STATE = "trust";
const COPY = "trust-copy";
const slotKey = (slot: number): string => `${STATE}-${slot}`;
/** Bytes of a value in the store, without its format and checksum. */
const MOST_BYTES = 3983;

/** Earlier images read the same record, so that they honor the drops after a rollback. */
export interface TrustState {
  /** Identifies the owner's CAs; "": none. */
  readonly by: string;
  /** The last accepted announcement: its sequence number, and the SHA-256 of its signed text. */
  readonly sequence: number;
  readonly digest: string;
  /** The slot of each CA that was added, and its SHA-256. */
  readonly added: readonly (readonly [slot: number, sha256: string])[];
  /** Dropped CAs, by `short`. They stay dropped even if an image or the owner brings them again. */
  readonly dropped: readonly string[];
  /** CAs to drop once a handshake without them succeeded. */
  readonly waiting: readonly string[];
}

export type TrustHost = Pick<Host, "store" | "encode" | "decode" | "digest" | "log" | "clock">;

type Stored = TrustState & {
  /** Counts the changes; 0: written by an earlier image. */
  readonly generation: number;
};

/**
 * The stored state. `by` identifies the owner's CAs. If they changed, added CAs are forgotten,
 * dropped ones stay dropped, and the last announcement, but no earlier one, is accepted again.
 * `given`: CAs that are not trusted if neither state nor copy can be read, unless there are no
 * others.
 */
export const readTrust = (host: TrustHost, by: string, given: readonly string[]): TrustState => {
  const stored = findStored(host) ?? (isLost(host) ? withoutState(host, by, given) : NOTHING);
  const { sequence, dropped } = stored;
  if (stored.by !== by)
    return { by, sequence: Math.max(0, sequence - 1), digest: "", added: [], dropped, waiting: [] };
  return { ...stored, added: stored.added.filter((one) => readWhole(host, one)) };
};

/** Writes the state and its copy if one is missing or outdated. Call once, at the start. */
export const mendTrust = (host: TrustHost): void => {
  const [state, copy] = readBoth(host);
  if (state && copy && state.generation > 0 && state.generation === copy.generation) return;
  const stored = findStored(host);
  if (!stored) return;
  if (!state) host.log("error", "trust: the state was missing or damaged; restored from its copy");
  writeBoth(host, stored);
};

/** The added CAs whose certificates are whole. */
export const readAdded = (host: TrustHost, { added }: TrustState): Authority[] =>
  added.flatMap((one) => readWhole(host, one) ?? []);

/** False if `state` is too large to store. Refuse an announcement that would lead to it. */
export const fits = (host: TrustHost, state: TrustState): boolean =>
  host.encode(JSON.stringify({ ...state, generation: Number.MAX_SAFE_INTEGER })).length <= MOST_BYTES;

/** Stores `state` and the certificates of `fresh`. False, with nothing changed, if that failed. */
export const writeTrust = (host: TrustHost, state: TrustState, fresh: readonly Authority[]): boolean => {
  const added = state.added.slice();
  for (const { id, der } of fresh) {
    const slot = freeSlot(added);
    if (slot === undefined || !host.store.set(slotKey(slot), der)) return false;
    added.push([slot, id]);
  }
  if (!writeBoth(host, { ...state, added })) return false;
  deleteOthers(host, added);
  return true;
};

const NOTHING: Stored = {
  by: "",
  sequence: 0,
  digest: "",
  added: [],
  dropped: [],
  waiting: [],
  generation: 0,
};

/** The newer one of the state and its copy. */
const findStored = (host: TrustHost): Stored | undefined => {
  const [state, copy] = readBoth(host);
  if (!state || !copy) return state ?? copy;
  if (state.generation > 0) return copy.generation > state.generation ? copy : state;
  // An earlier image wrote the state after the copy. It remembers 16 drops at most.
  const isBack = (id: string): boolean => state.added.some(([, one]) => short(one) === id);
  const others = copy.dropped.filter((id) => !state.dropped.includes(id) && !isBack(id));
  return { ...state, dropped: state.dropped.concat(others), generation: copy.generation };
};

const readBoth = (host: TrustHost): (Stored | undefined)[] =>
  [STATE, COPY].map((key) => {
    const found = readOwn(host, key);
    return isObject(found) ? toStored(found) : undefined;
  });

const toStored = ({ by, sequence, digest, added, dropped, waiting, generation }: JsonObject): Stored => ({
  by: typeof by === "string" ? by : "",
  sequence: typeof sequence === "number" ? sequence : 0,
  digest: typeof digest === "string" ? digest : "",
  added: Array.isArray(added) ? added.filter(isAdded) : [],
  dropped: texts(dropped).map(short),
  waiting: texts(waiting),
  generation: typeof generation === "number" ? generation : 0,
});

const isLost = ({ store }: TrustHost): boolean =>
  store.get(STATE) !== undefined || store.get(COPY) !== undefined;

/** The drops are unknown, so trust only the certificates in the slots, because each was signed. */
const withoutState = (host: TrustHost, by: string, given: readonly string[]): Stored => {
  const added: [number, string][] = [];
  for (let slot = 1; slot <= MOST; slot++) {
    const der = host.store.get(slotKey(slot));
    if (der && endOf({ der }) !== undefined) added.push([slot, sha256(host, der)]);
  }
  const isAlone = added.length > 0;
  const rest = isAlone ? "only the added CAs are trusted" : "dropped CAs are trusted again";
  host.log("error", `trust: neither state nor copy can be read: ${rest}`);
  return { ...NOTHING, by, added, dropped: isAlone ? given.map(short) : [] };
};

/** Writes the state, then its copy. If the copy fails, `mendTrust` repeats it at the next start. */
const writeBoth = (host: TrustHost, state: TrustState): boolean => {
  if (!fits(host, state)) return false;
  const [before, copy] = readBoth(host);
  const generation = Math.max(before?.generation ?? 0, copy?.generation ?? 0) + 1;
  const value = { ...state, generation };
  if (!writeStored(host, STATE, value)) return false;
  writeStored(host, COPY, value);
  return true;
};

const readWhole = (host: TrustHost, [slot, id]: TrustState["added"][number]): Authority | undefined => {
  const der = host.store.get(slotKey(slot));
  return der && sha256(host, der) === id ? { id, der } : undefined;
};

/** Deletes the certificates of dropped CAs, and those that a power loss left behind. */
const deleteOthers = ({ store }: TrustHost, added: TrustState["added"]): void => {
  for (let slot = 1; slot <= MOST; slot++)
    if (!added.some(([used]) => used === slot) && store.get(slotKey(slot))) store.delete(slotKey(slot));
};

const freeSlot = (added: TrustState["added"]): number | undefined => {
  for (let slot = 1; slot <= MOST; slot++) if (!added.some(([used]) => used === slot)) return slot;
  return undefined;
};

const isAdded = (value: Json): value is [number, string] => {
  const [slot, id] = Array.isArray(value) ? value : [];
  return typeof slot === "number" && slot >= 1 && slot <= MOST && typeof id === "string";
};

const texts = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((text): text is string => typeof text === "string") : [];
