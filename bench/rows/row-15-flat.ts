// Whether the millionth point costs what the thousandth did, by the engine's meter.
import { onXs } from "../on-xs/points-on-xs.js";
import type { Row } from "../row.js";

/** Of each so many the last are metered. */
const LAST = 1000;
const COUNTS = [1000, 3000, 10_000, 30_000, 100_000, 300_000, 1_000_000];
const QUICK = 30_000;
const EXACT = 10_000;

type Curve = [points: number, steps: number][];

/** Steps of a point, as the points of one agent become more. */
export const curve = (kind: "ram" | "durable", most: number): Promise<Curve> =>
  onXs(async (points) => {
    const found: Curve = [];
    let sent = 0;
    for (const count of COUNTS.filter((count) => count <= most)) {
      const before = count - LAST - sent;
      if (before > 0) await points.cost(kind, before);
      found.push([count, (await points.cost(kind, LAST)).steps]);
      sent = count;
    }
    return found;
  });

/** The dearest over the cheapest; of the first thousand the agent's start is a part. */
function spread(found: Curve): number {
  const steps = found.slice(1).map(([, cost]) => cost);
  return Math.max(...steps) / Math.min(...steps);
}

export const row: Row = {
  id: 15,
  name: "a point on XS, from the thousandth to the millionth: the dearest over the cheapest",
  target: 1.02,
  quick: true,
  needs: "xs",
  curve: { x: "points of one agent", y: "steps a point", logX: true },
  exact: async () => ({ spread: spread(await curve("ram", EXACT)) }),
  run: async ({ quick }) => {
    const lines = [];
    for (const kind of ["ram", "durable"] as const) {
      const found = await curve(kind, quick ? QUICK : 1_000_000);
      const ratio = spread(found);
      const steps = found.map(([, cost]) => Math.round(cost));
      const what = kind === "ram" ? "in memory" : "durable";
      lines.push({
        what,
        unit: "steps a point",
        mote: Math.max(...steps),
        limit: Math.min(...steps),
        ratio,
        series: found,
      });
    }
    return lines;
  },
};
