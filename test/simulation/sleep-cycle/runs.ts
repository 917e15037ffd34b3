// Long runs of a sleep cycle, each decided by its seed: how often the device wakes and connects,
// what it can measure, and how many faults it meets.
import { Dice } from "../dice.js";
import { type Judgement, promises } from "./promises.js";
import { Sleeper, type SleeperOptions } from "./sleeper.js";

const MINUTE = 60_000;

interface SleepCycleRun {
  readonly sleeper: Sleeper;
  readonly judgement: Judgement;
}

/** The run of one seed. */
export async function simulateSleepCycle(
  seed: number,
  days: number,
  fixed: Partial<SleeperOptions> = {},
): Promise<SleepCycleRun> {
  const dice = new Dice(seed);
  const sleeper = new Sleeper({
    seed,
    cycle: { everyMs: dice.pick([5, 10, 30, 60]) * MINUTE, connectEvery: dice.pick([1, 2, 6, 24]) },
    powerLossesAMonth: dice.pick([0, 4, 30]),
    outagesAMonth: dice.pick([0, 4, 12]),
    measures: dice.chance(0.5),
    ...fixed,
  });
  await sleeper.sleepAndWake(days);
  await sleeper.rest();
  return { sleeper, judgement: promises(sleeper) };
}

/** A line for people. */
export function summary({ sleeper, judgement }: SleepCycleRun): string {
  const { wakes, connected, powerLosses, radioMs } = sleeper.counts;
  const delivered = sleeper.arrived.size;
  const perPoint = (radioMs / delivered).toFixed(1);
  const late = [judgement.half, judgement.most, judgement.worst]
    .map((ms) => (ms / 1000).toFixed(1))
    .join(", ");
  return `seed ${sleeper.seed}: ${wakes} wakes, ${connected} connected, ${powerLosses} power losses, ${delivered} points, ${perPoint} ms of radio a point; time stamps off by ${late} s (half, 99 %, worst)`;
}
