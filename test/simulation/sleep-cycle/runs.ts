// Long lives of wakes, each told by its seed: how often it wakes and connects, what it can measure, and how bad the weather is.
import { Dice } from "../dice.js";
import { type Kept, promises } from "./promises.js";
import { Sleeper, type SleeperOptions } from "./sleeper.js";

const MINUTE = 60_000;

export interface Life {
  readonly sleeper: Sleeper;
  readonly kept: Kept;
}

/** The life of one seed. */
export async function tellLife(
  seed: number,
  days: number,
  fixed: Partial<SleeperOptions> = {},
): Promise<Life> {
  const dice = new Dice(seed);
  const sleeper = new Sleeper({
    seed,
    cycle: { everyMs: dice.pick([5, 10, 30, 60]) * MINUTE, connectEvery: dice.pick([1, 2, 6, 24]) },
    cutsAMonth: dice.pick([0, 4, 30]),
    outagesAMonth: dice.pick([0, 4, 12]),
    measures: dice.chance(0.5),
    ...fixed,
  });
  await sleeper.live(days);
  await sleeper.rest();
  return { sleeper, kept: promises(sleeper) };
}

/** A line for people. */
export function summary({ sleeper, kept }: Life): string {
  const { wakes, connected, cuts, radioMs } = sleeper.counts;
  const delivered = sleeper.arrived.size;
  const perPoint = (radioMs / delivered).toFixed(1);
  const late = [kept.half, kept.most, kept.worst].map((ms) => (ms / 1000).toFixed(1)).join(", ");
  return `seed ${sleeper.seed}: ${wakes} wakes, ${connected} connected, ${cuts} power cuts, ${delivered} points, ${perPoint} ms of radio a point; time stamps off by ${late} s (half, 99 %, worst)`;
}
