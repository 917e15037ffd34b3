// Instructions of Mote on the emulated chip that must not grow unseen: three rows of `node scripts/campaign.mjs bench-chip`, in its short run.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../test/architecture/tree.js";
import { LENGTHS, measure } from "./measure.js";
import { compilePlugin } from "./plugin.js";
import { ROWS } from "./rows.js";

/** Of one image, so that one start serves all. */
const KEYS: readonly string[] = ["boot", "point-10", "rpc"];
/** Two runs of the same source differ by a tenth: a poll falls into one and not into the other. */
export const CHIP_SLACK = 0.2;
const FILE = join(root, "bench/chip/budget.json");

/** Instructions, by row. */
export type ChipBudget = Readonly<Record<string, number>>;

export const readChipBudget = (): ChipBudget => JSON.parse(readFileSync(FILE, "utf8"));

export const writeChipBudget = (figures: ChipBudget): void =>
  writeFileSync(FILE, `${JSON.stringify(figures, null, 2)}\n`);

/** The lesser figures of `times` sessions. Throws if a row has none. */
export async function measureChip(times: number, say: (line: string) => void): Promise<ChipBudget> {
  const rows = ROWS.filter(({ key }) => KEYS.includes(key));
  const least: Record<string, number> = {};
  for (let n = 0; n < times; n++) {
    const { costs, failures } = await measure("mote", rows, LENGTHS.quick, compilePlugin(), say);
    if (failures.length > 0) throw new Error(failures.join("; "));
    for (const key of KEYS)
      least[key] = Math.min(
        least[key] ?? Number.POSITIVE_INFINITY,
        Math.round(costs[key]?.instructions ?? NaN),
      );
  }
  return least;
}
