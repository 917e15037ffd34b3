// Time series of several keys as rows: one per time stamp, a column per key.
import type { TimeSeries } from "../../operator/data.js";
import type { Reading } from "../../operator/shapes.js";

export interface Row {
  /** Milliseconds since 1970. */
  ts: number;
  /** Absent where the key has no point of that time. */
  values: Readonly<Record<string, unknown>>;
}

export interface Wanted {
  keys: readonly string[];
  /** Milliseconds since 1970; both included. */
  from: number;
  to: number;
  /** Most rows. */
  limit: number;
}

/** Points per key and request. */
const PAGE = 1_000;

/** The first `limit` rows from `from` on, in order, and whether there are more. */
export async function readRows(
  series: TimeSeries,
  deviceId: string,
  { keys, from, to, limit }: Wanted,
): Promise<{ rows: Row[]; more: boolean }> {
  const rows = new Map<number, Record<string, unknown>>();
  let startTs = from;
  // The end of a range is not included.
  const endTs = to + 1;
  while (startTs < endTs && rows.size <= limit) {
    const found = await series.range(deviceId, { keys, startTs, endTs, limit: PAGE, orderBy: "ASC" });
    const safe = safeEnd(Object.values(found), endTs);
    for (const [key, readings] of Object.entries(found))
      for (const { ts, value } of readings) if (ts < safe) add(rows, ts, key, value);
    startTs = safe;
  }
  const ordered = [...rows].sort(([one], [other]) => one - other).map(([ts, values]) => ({ ts, values }));
  return { rows: ordered.slice(0, limit), more: ordered.length > limit };
}

function add(rows: Map<number, Record<string, unknown>>, ts: number, key: string, value: unknown): void {
  const row: Record<string, unknown> = rows.get(ts) ?? Object.create(null);
  row[key] = value;
  rows.set(ts, row);
}

/** The time before which each key is complete. A full page of a key may lack later points. */
function safeEnd(all: readonly Reading[][], endTs: number): number {
  const ends = all.map((readings) => (readings.length < PAGE ? endTs : (readings.at(-1)?.ts ?? endTs) + 1));
  return Math.min(endTs, ...ends);
}
