// Many agents in one engine, by the engine's meter: what one of them costs in a second.
import { bundle } from "../../test/xs/engine/bundle.js";
import { Engine } from "../../test/xs/engine/worker.js";

const STARTED_MS = 4000;
/** The second of the polls, which are 3 s apart: each agent opens one in that time. */
const MEASURED_MS = 3000;
const LIMIT_STEPS = 50_000_000_000;

interface Counts {
  readonly recorded: number;
  readonly delivered: number;
  readonly online: number;
  /** The first line that an agent logged. */
  readonly said: string;
}

/** Steps an agent and second, of so many agents with a point a second each. What the machine of the test costs without any is taken off. */
export async function crowdSteps(agents: number): Promise<number> {
  const script = await bundle('import "./bench/guest/crowd.ts";');
  const idle = await steps(script, 0);
  return ((await steps(script, agents)) - idle) / agents / (MEASURED_MS / 1000);
}

async function steps(script: string, agents: number): Promise<number> {
  const engine = new Engine({ limitSteps: LIMIT_STEPS });
  const ask = (what: object) => engine.command(new TextEncoder().encode(JSON.stringify(what)));
  const counts = async (): Promise<Counts> =>
    JSON.parse(new TextDecoder().decode((await ask({})).bytes)) as Counts;
  try {
    await engine.evaluate(script);
    await ask({ add: agents });
    await ask({ pass: STARTED_MS });
    const before = await counts();
    const { compute } = await ask({ pass: MEASURED_MS });
    const after = await counts();
    const recorded = after.recorded - before.recorded;
    const delivered = after.delivered - before.delivered;
    const due = agents * (MEASURED_MS / 1000);
    if (after.online !== agents || after.said !== "" || recorded !== due || delivered < due * 0.8)
      throw new Error(`${agents} agents: ${JSON.stringify([before, after])}`);
    return compute;
  } finally {
    await engine.close();
  }
}
