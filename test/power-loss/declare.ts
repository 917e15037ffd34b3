// Cases as AVA tests, one for each, and what they ran as a line of the log.
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { argument } from "../arguments.js";
import { type Case, type Depth, play, type Swept, sweep } from "./runner.js";

const SHOWN = 3;

/** Declares a test for each case: `promise` holds wherever it is cut. A failure says how to see that one run again. */
export function powerLossTests<World>(
  promise: string,
  cases: readonly Case<World>[],
  depth: Depth = {},
): void {
  const only = argument("run");
  const file = relative(process.cwd(), fileURLToPath(test.meta.file));
  for (const one of cases) {
    test.serial(`${promise}, wherever the power is cut (${one.name})`, async (t) => {
      const [name, plan = "none"] = only?.split("@") ?? [];
      if (name === one.name) await play(one, plan);
      if (name !== undefined) return t.pass();
      const swept = await sweep(one, depth);
      const { problems } = swept;
      t.log(line(swept));
      const first = problems.slice(0, SHOWN).map(({ id, message }) => {
        return `${message}\n  see it again: npx ava ${file} -- --run ${id}`;
      });
      t.is(problems.length, 0, `${problems.length} runs broke it\n${first.join("\n")}`);
    });
  }
}

/** `outbox: 120 runs, 140 power losses at 30 changes (all before 30, ...)`. */
export function line({ name, runs, powerLosses, changes }: Swept): string {
  const all = Object.values(runs).reduce((sum, n) => sum + n, 0);
  const kinds = Object.entries(runs).map(([label, n]) => `${label} ${n}`);
  return `${name}: ${all} runs, ${powerLosses} power losses at ${changes} changes (${kinds.join(", ")})`;
}
