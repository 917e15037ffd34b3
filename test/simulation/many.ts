// Many simulated runs, one after the other, in this process.
import { simulate } from "./simulated-run.js";

/** What came of the runs from `first` on. */
export interface Outcome {
  runs: number;
  /**
   * The first run with a broken promise: its seed, and what was broken. No run behind it was
   * simulated.
   */
  failed?: { seed: number; failures: string[] };
  /** How often each fault was applied. */
  applied: Record<string, number>;
}

const rejections: string[] = [];
let listens = false;

/**
 * Simulates the seeds `first` to `first + count - 1`, up to the first broken promise. Seeds from
 * `fail` on fail on purpose.
 */
export async function simulateMany(first: number, count: number, fail?: number): Promise<Outcome> {
  if (!listens) process.on("unhandledRejection", (error) => rejections.push(String(error)));
  listens = true;
  const outcome: Outcome = { runs: 0, applied: {} };
  for (let seed = first; seed < first + count; seed++) {
    const { failures, world } = await simulate(seed);
    outcome.runs++;
    for (const [fault, times] of world.applied)
      outcome.applied[fault] = (outcome.applied[fault] ?? 0) + times;
    const all = [...failures, ...rejections.splice(0).map((reason) => `unhandled rejection: ${reason}`)];
    if (fail !== undefined && seed >= fail) all.push("failed on purpose");
    if (all.length === 0) continue;
    outcome.failed = { seed, failures: all };
    break;
  }
  return outcome;
}
