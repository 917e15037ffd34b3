// State that survives deep sleep and power loss, as src/store.ts stores it:
//
//   [1767225600000,[["temperature",21.5,21.6,30000,0,0,0,0,0],
//                   ["power",null,3,null,12,4000,1.5,3,2.25]]]
//
// First the wall clock or null. Then a row per key: the value last reported, the last value, ms
// since that report, and the window's count, ms left, minimum, maximum and mean.
import type { Host } from "../../src/port.js";
import { readStored, type StoreHost, writeStored } from "../../src/store.js";
import type { Track } from "./track.js";

export type SavedHost = StoreHost & Pick<Host, "clock">;

const KEY = "reported";
const NUMBERS_FROM = 4;
const ROW = 9;

/** Stores nothing if it does not fit or cannot be written. */
export const save = (host: SavedHost, tracks: Iterable<Track>): void => {
  const now = host.clock.now();
  const rows = [...tracks].map((track) => {
    const { key, reported, last, count, min, max, mean } = track;
    const since = Number.isFinite(track.reportedAt) ? now - track.reportedAt : null;
    return [key, reported ?? null, last ?? null, since, count, track.endAt - now, min, max, mean];
  });
  // Without rules, a wake writes nothing.
  if (rows.length === 0 && host.store.get(KEY) === undefined) return;
  if (rows.length > 0 && writeStored(host, KEY, [host.clock.wall() ?? null, rows])) return;
  // An old state would be worse than none.
  host.store.delete(KEY);
};

/** Restores the tracks. */
export const restore = (host: SavedHost, tracks: ReadonlyMap<string, Track>): void => {
  const saved = readStored(host, KEY);
  if (!Array.isArray(saved) || !Array.isArray(saved[1])) return;
  const wall = host.clock.wall();
  // If the duration of the sleep is unknown, it counts as zero: reports are late, but nothing is
  // lost.
  const slept = typeof saved[0] === "number" && wall !== undefined ? Math.max(0, wall - saved[0]) : 0;
  const now = host.clock.now();
  for (const row of saved[1]) {
    if (!Array.isArray(row) || row.length !== ROW) continue;
    const track = tracks.get(row[0] as string);
    if (track && row.slice(NUMBERS_FROM).every(Number.isFinite)) track.restore(row, now, slept);
  }
};
