// Means of a time series by intervals, as the platform's database counts them.

import { Refused } from "../common/refused.js";
import type { Point, Range, TimeSeries } from "./timeseries.js";

const MOST_INTERVALS = 700;
const SHORTEST_MS = 1_000;
const NUMERIC = ["number", "bigint"];

/** A point per interval with numbers, at its middle. Throws Refused for too many intervals. */
export function means(
  series: TimeSeries,
  key: string,
  { startTs, endTs }: Pick<Range, "startTs" | "endTs">,
  intervalMs: number,
): Point[] {
  const step = Math.max(intervalMs, SHORTEST_MS);
  const intervals = Math.floor((endTs - startTs) / step);
  if (intervals > MOST_INTERVALS)
    throw new Refused(
      `Incorrect TsKvQuery. Number of intervals is to high - ${intervals}. Please increase 'interval' parameter for your query or reduce the time range of the query.`,
    );
  const points: Point[] = [];
  for (let from = startTs; from < Math.max(startTs + 1, endTs); from += step) {
    const to = Math.min(from + step, endTs);
    const inside = series.range(key, {
      startTs: from,
      endTs: to,
      limit: Number.MAX_SAFE_INTEGER,
      ascending: true,
    });
    const numbers = inside.map(({ value }) => value).filter((value) => NUMERIC.includes(typeof value));
    if (numbers.length === 0) continue;
    const value = numbers.reduce<number>((sum, one) => sum + Number(one), 0) / numbers.length;
    points.push({ ts: from + Math.floor((to - from) / 2), value });
  }
  return points;
}
