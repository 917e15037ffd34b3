// What points leave behind on XS: slots allocated for one between collections, and slots that are in use once garbage was collected.
import { onXs, type PointsOnXs } from "../on-xs/points-on-xs.js";
import type { Row } from "../row.js";

const KINDS = ["ram", "durable"] as const;
/** A batch twice: no collection comes in between. */
const BETWEEN = 100;
const FEW = 100;
const MANY = 100_000;
const MANY_EXACT = 20_000;
const SLOT_BYTES = 16;

async function allocated(points: PointsOnXs, kind: "ram" | "durable"): Promise<number> {
  await points.warm(kind);
  return Math.round((await points.garbage(kind, BETWEEN)) * 100) / 100;
}

/** Slots more after `many` points than after a hundred. */
async function grown(
  points: PointsOnXs,
  kind: "ram" | "durable",
  many: number,
): Promise<[few: number, many: number]> {
  // In two turns: of the first the agent's start is a part.
  await points.cost(kind, FEW / 2);
  await points.cost(kind, FEW / 2);
  const few = await points.slots();
  await points.cost(kind, many - FEW);
  return [few, await points.slots()];
}

export const row: Row = {
  id: 4,
  name: "garbage of a point on XS, and slots in use after 100,000 points over those after 100",
  target: 1,
  better: "less",
  quick: true,
  needs: "xs",
  exact: async () => {
    const figures: Record<string, number> = {};
    for (const kind of KINDS) {
      figures[`${kind}Slots`] = await onXs((points) => allocated(points, kind));
      const [few, many] = await onXs((points) => grown(points, kind, MANY_EXACT));
      figures[`${kind}Grown`] = many - few;
    }
    return figures;
  },
  run: async ({ quick, budget }) => {
    const lines = [];
    for (const kind of KINDS) {
      const what = kind === "ram" ? "in memory" : "durable";
      const slots = await onXs((points) => allocated(points, kind));
      const kept = budget(`${kind}Slots`);
      lines.push({ what: `${what}: slots a point`, unit: "slots", mote: slots, limit: kept, target: 1.05 });
      const [few, many] = await onXs((points) => grown(points, kind, quick ? MANY_EXACT : MANY));
      lines.push({
        what: `${what}: in use`,
        unit: "bytes of slots",
        mote: many * SLOT_BYTES,
        limit: few * SLOT_BYTES,
      });
    }
    return lines;
  },
};
