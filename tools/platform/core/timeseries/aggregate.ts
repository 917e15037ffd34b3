// Time series in intervals, as the platform's database counts them.

import { Refused } from "../common/refused.js";
import type { Value } from "../values.js";
import type { Point, Range, TimeSeries } from "./timeseries.js";

export const AGGREGATIONS = ["MIN", "MAX", "AVG", "SUM", "COUNT", "NONE"] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

const MOST_INTERVALS = 700;
const SHORTEST_MS = 1_000;

/** A point per interval with data, at its middle. Throws Refused for too many intervals. */
export function aggregated(
  series: TimeSeries,
  key: string,
  { startTs, endTs }: Pick<Range, "startTs" | "endTs">,
  intervalMs: number,
  aggregation: Exclude<Aggregation, "NONE">,
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
    const value = combined(
      inside.map((point) => point.value),
      aggregation,
    );
    if (value !== undefined) points.push({ ts: from + Math.floor((to - from) / 2), value });
  }
  return points;
}

/** Undefined where there is nothing to combine: texts have neither sum nor average. */
function combined(values: readonly Value[], aggregation: Exclude<Aggregation, "NONE">): Value | undefined {
  if (values.length === 0) return undefined;
  if (aggregation === "COUNT") return BigInt(values.length);
  const numbers = values.filter((value) => typeof value === "number" || typeof value === "bigint");
  if (numbers.length === 0) return extremeText(values, aggregation);
  const isLong = numbers.every((value) => typeof value === "bigint");
  if (aggregation === "AVG") return sumOf(numbers.map(Number)) / numbers.length;
  if (aggregation === "SUM")
    return isLong
      ? (numbers as bigint[]).reduce((sum, value) => sum + value, 0n)
      : sumOf(numbers.map(Number));
  const isMin = aggregation === "MIN";
  const extreme = numbers.reduce((best, value) => ((isMin ? value < best : value > best) ? value : best));
  return isLong ? extreme : Number(extreme);
}

function extremeText(
  values: readonly Value[],
  aggregation: Exclude<Aggregation, "NONE">,
): string | undefined {
  const texts = values.filter((value) => typeof value === "string").sort();
  if (aggregation === "MIN") return texts[0];
  return aggregation === "MAX" ? texts.at(-1) : undefined;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
