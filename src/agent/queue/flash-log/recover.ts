// What a start finds in the sectors: one header each is read, then the newest sector, then headers back to the first point waiting.
import { type Records, soundLength } from "../log-entry.js";
import {
  applyRecords,
  emptyState,
  HEADER_BYTES,
  headerKind,
  isBlank,
  isSound,
  readHeader,
  type SectorState,
  sequenceOf,
} from "./sector-header.js";
import type { SectorMap } from "./sector-map.js";

/**
 * - `ready`: go on at `end` of the newest sector (its size: nothing may be appended to it). `oldest` is the sector to read from. An unused
 *   or foreign-looking (`strange`) partition is as empty as a new one: `end` is the sector's size and the sequence number 0.
 * - `foreign`: written by another format of this queue.
 * - `failed`: the host could not read.
 */
export type Recovered =
  | { readonly kind: "ready"; readonly end: number; readonly oldest: number; readonly strange: boolean }
  | { readonly kind: "foreign" }
  | { readonly kind: "failed" };

/** Anchors `map`, leaves the newest sector in the page. `into` is filled if it is ready, and left else. */
export const recover = (map: SectorMap, { bytes: page, words }: Records, into: SectorState): Recovered => {
  const state = emptyState();
  const { header } = map;
  const headerWords = new Int32Array(header.buffer);
  map.unread = false;
  let newest = 0;
  let index = 0;
  // One alone is the first header of all, cut while it was written.
  let strange = 0;
  // From the last to the first: most are older than one before, and need no look at their checksum.
  for (let i = map.count - 1; i >= 0; i--) {
    if (!map.read(i * map.size, header)) return { kind: "failed" };
    const kind = headerKind(header);
    if (kind === "foreign") return { kind: "foreign" };
    if (kind === "own" && sequenceOf(header) <= newest) continue;
    if (kind === "own" && isSound(header)) {
      newest = sequenceOf(header);
      index = i;
    } else if (!isBlank(headerWords)) strange++;
  }
  if (newest === 0) {
    map.anchor(0, map.count - 1);
    Object.assign(into, state);
    return { kind: "ready", end: map.size, oldest: 1, strange: strange > 1 };
  }
  map.anchor(newest, index);
  if (!map.read(index * map.size, page)) return { kind: "failed" };
  readHeader(page, state);
  const end = replay(map.size, words, state);
  const oldest = findOldest(map, state);
  if (map.unread) return { kind: "failed" };
  Object.assign(into, state);
  return { kind: "ready", end, oldest, strange: false };
};

/** Applies the records of the newest sector; returns where the next may go. */
const replay = (size: number, words: Int32Array, state: SectorState): number => {
  let at = HEADER_BYTES;
  for (;;) {
    const length = soundLength(words, at, size, state.sequence);
    if (length === 0) break;
    applyRecords(state, words, at, at + length);
    at += length;
  }
  // A record was cut while it was written. Its bytes can't be written again, and what stood behind them would not be found.
  return isBlank(words, at) ? at : size;
};

/** Sectors without a header are passed over: one was set aside when its turn came, or is damaged. */
const findOldest = (map: SectorMap, state: SectorState): number => {
  let oldest = state.sequence;
  let first = map.firstIn(oldest) ?? 0;
  for (let at = oldest - 1; at > state.sequence - map.count && first > state.confirmed; at--) {
    const found = map.firstIn(at);
    if (found === undefined) continue;
    oldest = at;
    first = found;
  }
  return oldest;
};
