// Instructions of Mote on the emulated chip that must not grow unnoticed, from short runs.

import { LENGTHS, measure } from "./measure.js";
import { compilePlugin } from "./plugin.js";
import type { ProgramCosts } from "./rows.js";
import { byVariant, ROWS } from "./rows.js";

/** A wake, an RPC, an attribute change and 50 points, and the start that serves two of them. */
const KEYS: readonly string[] = ["boot", "rpc", "attribute", "durable-batch", "wake"];
/** Two runs of the same source differ by a tenth: a poll falls into one and not into the other. */
export const CHIP_SLACK = 0.2;

export const instructionsOf = (costs: ProgramCosts = {}): Record<string, number> =>
  Object.fromEntries(KEYS.map((key) => [key, Math.round(costs[key]?.instructions ?? NaN)]));

export async function measureChip(say: (line: string) => void): Promise<Record<string, number>> {
  const all: Record<string, ProgramCosts[string]> = {};
  for (const rows of byVariant(ROWS.filter(({ key }) => KEYS.includes(key)))) {
    const { costs, failures } = await measure("mote", rows, LENGTHS.quick, compilePlugin(), say);
    if (failures.length > 0) throw new Error(failures.join("; "));
    Object.assign(all, costs);
  }
  return instructionsOf(all);
}
