// What a long run of sleep cycles must keep, whatever happened in it.
import { DRIFT, type Sleeper } from "./sleeper.js";

/** The platform sends whole seconds, and its answer takes a while. */
const DATE_LATE_MS = 2000;

export interface Judgement {
  readonly problems: string[];
  /**
   * Of the points' time stamps, against the true time, in ms: half of them, 99 of 100, and the
   * worst.
   */
  readonly half: number;
  readonly most: number;
  readonly worst: number;
}

export function promises(sleeper: Sleeper): Judgement {
  const problems = [...sleeper.problems];
  const errors: number[] = [];
  const missing = sleeper.points.flatMap(({ unsure }, n) => (unsure || sleeper.arrived.has(n) ? [] : [n]));
  if (missing.length > 0) problems.push(`points ${missing.slice(0, 5)} (${missing.length}) are lost`);
  let [lastN, lastTs] = [-1, -1];
  for (const [n, ts] of sleeper.arrived) {
    if (n < lastN) problems.push(`point ${n} came after ${lastN}`);
    if (ts <= lastTs) problems.push(`points ${lastN} and ${n} have the time stamps ${lastTs} and ${ts}`);
    [lastN, lastTs] = [n, ts];
    const error = Math.abs(ts - sleeper.wallAt(sleeper.points[n]!.at));
    errors.push(error);
    const bound = boundAt(sleeper, sleeper.points[n]!.at);
    if (error > bound) problems.push(`point ${n} is ${error} ms off, more than ${Math.round(bound)}`);
  }
  for (const [i, { results }] of sleeper.rpcs.entries()) {
    const answers = results.filter(({ kind }) => kind === "answer").length;
    if (answers > 1) problems.push(`RPC ${i} was answered ${answers} times`);
  }
  if (sleeper.seen !== sleeper.target)
    problems.push(`the attribute is ${sleeper.seen}, not ${sleeper.target}`);
  errors.sort((one, other) => one - other);
  const at = (share: number) => errors[Math.floor(errors.length * share)] ?? 0;
  return { problems, half: at(0.5), most: at(0.99), worst: errors.at(-1) ?? 0 };
}

/**
 * How wrong a time stamp may be: by the drift since the device last learnt the time before the
 * point, or the time before that (a fast clock is waited for) until the device learns it again, and
 * by how long there was no power in between, as nobody counts that.
 */
function boundAt({ clockSet, off }: Sleeper, at: number): number {
  const next = clockSet.findIndex((when) => when >= at);
  const from = clockSet[(next < 0 ? clockSet.length : next) - 2] ?? 0;
  const to = next < 0 ? at : clockSet[next]!;
  const dark = off
    .filter((gap) => gap.to > from && gap.from < to)
    .reduce((sum, gap) => sum + gap.to - gap.from, 0);
  return DATE_LATE_MS + DRIFT * 1.1 * (to - from) + dark;
}
