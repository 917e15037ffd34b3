// Cases as AVA tests, one for each, and what they ran as a line of the log.
import test from "ava";
import { type Case, type Swept, sweep } from "./runner.js";

const SHOWN = 3;

/**
 * Declares a test for each case: `promise` holds wherever it is cut. A failure says how to see that
 * one run again.
 */
export function powerLossTests<World>(promise: string, cases: readonly Case<World>[], pairs: number): void {
  for (const one of cases) {
    test.serial(`${promise}, wherever the power is cut (${one.name})`, async (t) => {
      const swept = await sweep(one, pairs);
      const { problems } = swept;
      t.log(line(swept));
      const first = problems.slice(0, SHOWN).map(({ id, message }) => {
        return `${message}\n  see it again: node scripts/campaign.mjs power-loss ${id}`;
      });
      t.is(problems.length, 0, `${problems.length} runs broke it\n${first.join("\n")}`);
    });
  }
}

/** `outbox: 120 runs, 140 power losses at 30 changes (all before 30, ...)`. */
function line({ name, runs, powerLosses, changes }: Swept): string {
  const all = Object.values(runs).reduce((sum, n) => sum + n, 0);
  const kinds = Object.entries(runs).map(([label, n]) => `${label} ${n}`);
  return `${name}: ${all} runs, ${powerLosses} power losses at ${changes} changes (${kinds.join(", ")})`;
}
