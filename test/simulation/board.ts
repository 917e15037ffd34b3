// The agent as a board runs it, built by scripts/board.mjs, in the same simulated runs as the
// sources. Here it runs on Node: on XS it is in test/xs.
import { register } from "node:module";
import { pathToFileURL } from "node:url";
import test from "ava";
import type { Agent } from "../../src/index.js";
import { builtFile } from "../../tools/project.js";
import { buildBoards } from "../built.js";

const MODULE = pathToFileURL(builtFile("xs/mote.js")).href;

/** Only simulated-run.ts makes agents: for it the board's module takes the place of the sources. */
const hook = `export const resolve = (name, context, next) =>
  next(name === "../../src/index.js" && context.parentURL.endsWith("/test/simulation/simulated-run.ts") ? "${MODULE}" : name, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

/** Declares the test: it simulates `runs` runs from seed `first` on. */
export function declare(first: number, runs: number): void {
  test("through faults, restarts and clock jumps the promises hold for the agent as a board runs it as well", async (t) => {
    await buildBoards("mote");
    const { simulate } = await import("./simulated-run.js");
    const board: { Agent: typeof Agent } = await import(MODULE);
    for (let seed = first; seed < first + runs; seed++) {
      const { failures, agent } = await simulate(seed);
      t.true(agent instanceof board.Agent);
      t.deepEqual(failures, [], `seed ${seed}`);
    }
  });
}
