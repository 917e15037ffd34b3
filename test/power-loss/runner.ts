// Runs a case under power losses. A case is a job that takes up where the last start left it, so
// the power may go anywhere, any number of times, and must come to the same end:
//
//   interface World { store: FakeStore; saved: number }
//   const counter: Case<World> = {
//     name: "counter",
//     begin: () => ({ store: new FakeStore(), saved: 0 }),
//     resume: (world, power) => {
//       const store = poweredStore(world.store, power);
//       const found = store.get("n")?.[0] ?? 0;
//       if (found < world.saved || found > world.saved + 1) throw new Error(`${found} after ${world.saved}`);   // old or new
//       for (let n = found + 1; n <= 5; n++) {                                                                // the rest of the job
//         store.set("n", Uint8Array.of(n));
//         world.saved = n;
//       }
//     },
//   };
//   powerLossTests("a counter never goes back", [counter], 100); // in counter.test.ts; `multiply` makes many of one
//
// `world` is what outlives the power loss, and what the test knows. All that lasts is changed
// through `power` (fakes/power.ts); a whole host with power is in fakes/powered-device.ts. An
// exception is a problem, but for what comes after the power loss. An `async` job ends when it sees
// that the power is off.

import { type Change, KINDS, Power, type PowerLoss, PowerLossError } from "../fakes/power.js";
import type { Dice } from "../simulation/dice.js";

export interface Case<World = unknown> {
  /** Of letters, digits, - and /; each case has its own. */
  readonly name: string;
  /** A device that never had power, and whoever is around it. The same each time. */
  begin(): World;
  /** One start: looks at what survived, then does what is left of the job. Throws what is wrong. */
  resume(world: World, power: Power): void | Promise<void>;
  /** After the start that came to its end. Throws what is wrong. */
  check?(world: World): void | Promise<void>;
}

/** What a sweep ran, by scenario and kind, and what it found. */
export interface Swept {
  readonly name: string;
  readonly runs: Record<string, number>;
  /** Power losses in all runs. */
  powerLosses: number;
  /** Changes of the job when the power stays. */
  changes: number;
  readonly problems: Problem[];
}

export class Problem extends Error {
  /** `CASE@PLAN`: replays that run. */
  readonly id: string;

  constructor(id: string, what: string) {
    super(`${id}: ${what}`);
    this.id = id;
  }
}

/**
 * One run: `none`, `linear.KIND` (each start one change longer than that before), or a power loss
 * for each start, as `12.bits+3.before`.
 */
type Plan = string;

const MOST_STARTS = 500;
const PLAN = /^(\d+)\.([a-z]+)$/;

/** The power loss of start number `start`, from 0; undefined if it has none. */
function powerLossOf(plan: Plan, start: number): PowerLoss | undefined {
  const linear = KINDS.find((kind) => plan === `linear.${kind}`);
  if (linear) return { at: start, kind: linear };
  const [, at, name] = PLAN.exec(plan.split("+")[start] ?? "") ?? [];
  const kind = KINDS.find((one) => one === name);
  return kind && { at: Number(at), kind };
}

/** Runs `one` under `plan`. Returns the changes of each start; throws a Problem. */
export async function play<World>(one: Case<World>, plan: Plan): Promise<Change[][]> {
  const starts: Change[][] = [];
  const world = one.begin();
  try {
    for (let over = false; !over; ) {
      if (starts.length > MOST_STARTS) throw new Error("comes to no end");
      const power = new Power(powerLossOf(plan, starts.length));
      starts.push(power.changes);
      await resume(one, world, power);
      over = power.on;
    }
    await one.check?.(world);
  } catch (error) {
    throw new Problem(
      `${one.name}@${plan}`,
      `${error instanceof Error ? error.message : error}${trail(starts)}`,
    );
  }
  return starts;
}

async function resume<World>(one: Case<World>, world: World, power: Power): Promise<void> {
  try {
    await one.resume(world, power);
  } catch (error) {
    if (power.on || !(error instanceof PowerLossError)) throw error;
  }
}

/** The last changes of each of the last starts. */
function trail(starts: readonly Change[][]): string {
  const last = starts.slice(-3).map((changes) => changes.slice(-4).map(({ name }) => name));
  return `\n  changes before each power loss: ${last.map((names) => names.join(", ")).join(" | ")}`;
}

/**
 * The power of `one` goes everywhere: once at each change, over and over, and twice in about
 * `pairs` runs, spread evenly over all there are (Infinity: all).
 */
export async function sweep<World>(one: Case<World>, pairs: number): Promise<Swept> {
  const { swept, changes, singles } = await begin(one);
  for (const kind of KINDS)
    if (changes.some((change) => change.kinds.includes(kind)))
      await run(one, `linear.${kind}`, `linear ${kind}`, swept);
  let due = 0;
  for (const { at, kind } of singles) {
    const first = `${at}.${kind}`;
    const [, recovery = []] = (await run(one, first, `all ${kind}`, swept)) ?? [];
    const second = powerLossesOf(recovery);
    due += pairs / singles.length;
    const step = second.length / Math.min(second.length, Math.floor(due));
    // Not the first each time.
    for (let i = at % step; due >= 1 && i < second.length; i += step, due--) {
      const next = second[Math.floor(i)]!;
      await run(one, `${first}+${next.at}.${next.kind}`, "pairs", swept);
    }
  }
  return swept;
}

/**
 * The power of `one` goes at up to `most` places that `dice` picks, clean or torn; every other time
 * once more in the start that follows.
 */
export async function sample<World>(one: Case<World>, dice: Dice, most: number): Promise<Swept> {
  const { swept, singles } = await begin(one);
  for (let n = 0; n < most && singles.length > 0; n++) {
    const { at, kind } = dice.pick(singles);
    const first = `${at}.${kind}`;
    const [, recovery = []] = (await run(one, first, "single", swept)) ?? [];
    const second = powerLossesOf(recovery);
    if (n % 2 === 0 || second.length === 0) continue;
    const next = dice.pick(second);
    await run(one, `${first}+${next.at}.${next.kind}`, "pairs", swept);
  }
  return swept;
}

/** A run in which the power stays: its changes, and every power loss that they allow. */
async function begin<World>(one: Case<World>) {
  const swept: Swept = { name: one.name, runs: {}, powerLosses: 0, changes: 0, problems: [] };
  const [changes = []] = (await run(one, "none", "none", swept)) ?? [];
  swept.changes = changes.length;
  return { swept, changes, singles: powerLossesOf(changes) };
}

const powerLossesOf = (changes: readonly Change[]): PowerLoss[] =>
  changes.flatMap(({ kinds }, at) => kinds.map((kind) => ({ at, kind })));

async function run<World>(
  one: Case<World>,
  plan: Plan,
  label: string,
  swept: Swept,
): Promise<Change[][] | undefined> {
  swept.runs[label] = (swept.runs[label] ?? 0) + 1;
  try {
    const starts = await play(one, plan);
    swept.powerLosses += starts.length - 1;
    return starts;
  } catch (error) {
    swept.problems.push(error as Problem);
    return undefined;
  }
}

/**
 * One case for each combination of the values; `make` says its name and what it is. Combinations of
 * the same name are one.
 */
export function multiply<Lists extends Record<string, readonly unknown[]>, World>(
  lists: Lists,
  make: (values: { [name in keyof Lists]: Lists[name][number] }) => Case<World>,
): Case<World>[] {
  let rows: Record<string, unknown>[] = [{}];
  for (const [name, values] of Object.entries(lists))
    rows = rows.flatMap((row) => values.map((value) => ({ ...row, [name]: value })));
  const cases = rows.map((row) => make(row as { [name in keyof Lists]: Lists[name][number] }));
  return cases.filter(({ name }, i) => cases.findIndex((other) => other.name === name) === i);
}
