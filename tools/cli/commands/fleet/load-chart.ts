// The picture of a fleet's load: four curves, one below the other.
import type { Load } from "../../../fleet/model/load.js";
import { type Chart, drawAll, type Series } from "../../output/curve.js";

/** So many points has a line: what is between two of them is shown by their mean and their busiest second. */
const POINTS = 288;
const HOUR_S = 3600;

const CHARTS = [
  ["requests", "requests a second"],
  ["connections", "connections opened a second"],
  ["bytes", "KB a second"],
  ["points", "points a second"],
] as const;

/** `headline` stands above it, `title` is for readers who don't see it. */
export function drawLoad(headline: string, title: string, load: Load): string {
  return drawAll(
    title,
    CHARTS.map(([kind, y], at): Chart => {
      const scale = kind === "bytes" ? 1000 : 1;
      const { means, most } = linesOf(load[kind], scale);
      return {
        title: at === 0 ? `What a server sees of ${headline}` : "",
        curve: { x: "hours", y },
        lines: [
          { name: "busiest second", series: most },
          { name: "mean", series: means },
        ],
      };
    }),
  );
}

function linesOf(all: Float64Array, scale: number): { means: Series; most: Series } {
  const width = Math.max(1, Math.ceil(all.length / POINTS));
  const means: [number, number][] = [];
  const most: [number, number][] = [];
  for (let from = 0; from < all.length; from += width) {
    const some = all.subarray(from, from + width);
    const hour = Math.round((from / HOUR_S) * 1000) / 1000;
    means.push([hour, some.reduce((sum, value) => sum + value, 0) / some.length / scale]);
    most.push([hour, Math.max(...some) / scale]);
  }
  return { means, most };
}
