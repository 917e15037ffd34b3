// The starts of boot epochs, as the small store has them.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";

const STORED = "boots";

/** The boot epoch's start in ms since 1970; ticks below `exactFrom` are of starts that never knew the time. */
export interface BootEpoch {
  readonly epoch: number;
  readonly start: number;
  readonly exactFrom: number;
}

/** Those known, the latest last, and the time stamp of the last point of them all: the platform sends whole seconds, so the next time learnt may be before it. */
export const readEpochs = (host: Host): { epochs: BootEpoch[]; end: number } => {
  const rows = readStored(host, STORED);
  const epochs: BootEpoch[] = [];
  if (!Array.isArray(rows)) return { epochs, end: 0 };
  for (const row of rows) {
    if (!Array.isArray(row) || row.length !== 3) continue;
    const [epoch, start, exactFrom] = row;
    if (typeof epoch !== "number" || typeof start !== "number" || typeof exactFrom !== "number") continue;
    epochs.push({ epoch, start, exactFrom });
  }
  const end = rows.at(-1);
  return { epochs, end: typeof end === "number" ? end : 0 };
};

/** False if the store does not take them. */
export const writeEpochs = (host: Host, epochs: readonly BootEpoch[], end: number): boolean => {
  const rows = epochs.map<number | number[]>(toRow).concat(end);
  return writeStored(host, STORED, rows);
};

const toRow = (one: BootEpoch): number[] => {
  return [one.epoch, one.start, one.exactFrom];
};
