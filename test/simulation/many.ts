// Many stories, one after the other, in this process.
import { tell } from "./simulated-run.js";

/** What came of the stories from `first` on. */
export interface Told {
  stories: number;
  /** The first story with a broken promise: its seed, and what was broken. No story behind it was told. */
  failed?: { seed: number; failures: string[] };
  /** How often each fault was applied. */
  applied: Record<string, number>;
}

const rejections: string[] = [];
let listens = false;

/** Tells the stories of the seeds `first` to `first + count - 1`, up to the first broken promise; `fail` is a seed that fails on purpose. */
export async function tellMany(first: number, count: number, fail?: number): Promise<Told> {
  if (!listens) process.on("unhandledRejection", (error) => rejections.push(String(error)));
  listens = true;
  const told: Told = { stories: 0, applied: {} };
  for (let seed = first; seed < first + count; seed++) {
    const { failures, world } = await tell(seed);
    told.stories++;
    for (const [fault, times] of world.applied) told.applied[fault] = (told.applied[fault] ?? 0) + times;
    const all = [...failures, ...rejections.splice(0).map((reason) => `unhandled rejection: ${reason}`)];
    if (seed === fail) all.push("failed on purpose");
    if (all.length === 0) continue;
    told.failed = { seed, failures: all };
    break;
  }
  return told;
}
