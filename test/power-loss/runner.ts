// Runs a case under power cuts. A case is a job that takes up where the last life left it, so it can be cut anywhere, any number of
// times, and must come to the same end:
//
//   interface World { store: FakeStore; saved: number }
//   const counter: Case<World> = {
//     name: "counter",
//     begin: () => ({ store: new FakeStore(), saved: 0 }),
//     live: (world, power) => {
//       const store = poweredStore(world.store, power);
//       const found = store.get("n")?.[0] ?? 0;
//       if (found < world.saved || found > world.saved + 1) throw new Error(`${found} after ${world.saved}`);   // old or new
//       for (let n = found + 1; n <= 5; n++) {                                                                // the rest of the job
//         store.set("n", Uint8Array.of(n));
//         world.saved = n;
//       }
//     },
//   };
//   cutTests("a counter never goes back", [counter]);      // in counter.test.ts; `multiply` makes many of one
//
// `world` is what outlives the cut, and what the test knows. All that lasts is changed through `power` (power.ts); a whole host with
// power is in device.ts. An exception is a problem, but for what comes after the cut. An `async` job ends when it sees that the power is off.
import type { Dice } from "../simulation/dice.js";
import { type Change, type Cut, KINDS, type Kind, Power, PowerCut } from "./power.js";

export interface Case<World = unknown> {
  /** Of letters, digits, - and /; each case has its own. */
  readonly name: string;
  /** A device that never had power, and whoever is around it. The same each time. */
  begin(): World;
  /** One life: looks at what survived, then does what is left of the job. Throws what is wrong. */
  live(world: World, power: Power): void | Promise<void>;
  /** After the life that came to its end. Throws what is wrong. */
  check?(world: World): void | Promise<void>;
}

/** How much of all that could be cut is cut. */
export interface Depth {
  /** Which of the kinds (default: all). */
  readonly kinds?: readonly Kind[];
  /** Every so many changes are cut once (default 1: all). */
  readonly every?: number;
  /** About how many runs with two cuts, spread evenly over all there are (Infinity: all). Default 0. */
  readonly pairs?: number;
}

/** What a sweep ran, by scenario and kind, and what it found. */
export interface Swept {
  readonly name: string;
  readonly runs: Record<string, number>;
  /** Power cuts in all runs. */
  cuts: number;
  /** Changes of the job when nothing is cut. */
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

/** One run: `none`, `linear.KIND` (each life one change longer than that before), or a cut for each life, as `12.bits+3.before`. */
type Plan = string;

const MOST_LIVES = 500;
const PLAN = /^(\d+)\.([a-z]+)$/;

/** The cut of life number `life`, from 0; undefined if it has none. */
export function cutOf(plan: Plan, life: number): Cut | undefined {
  const linear = KINDS.find((kind) => plan === `linear.${kind}`);
  if (linear) return { at: life, kind: linear };
  const [, at, name] = PLAN.exec(plan.split("+")[life] ?? "") ?? [];
  const kind = KINDS.find((one) => one === name);
  return kind && { at: Number(at), kind };
}

/** Runs `one` under `plan`. Returns the changes of each life; throws a Problem. */
export async function play<World>(one: Case<World>, plan: Plan): Promise<Change[][]> {
  const lives: Change[][] = [];
  const world = one.begin();
  try {
    for (let over = false; !over; ) {
      if (lives.length > MOST_LIVES) throw new Error("comes to no end");
      const power = new Power(cutOf(plan, lives.length));
      lives.push(power.changes);
      await live(one, world, power);
      over = power.on;
    }
    await one.check?.(world);
  } catch (error) {
    throw new Problem(
      `${one.name}@${plan}`,
      `${error instanceof Error ? error.message : error}${trail(lives)}`,
    );
  }
  return lives;
}

async function live<World>(one: Case<World>, world: World, power: Power): Promise<void> {
  try {
    await one.live(world, power);
  } catch (error) {
    if (power.on || !(error instanceof PowerCut)) throw error;
  }
}

/** The last changes of each of the last lives. */
function trail(lives: readonly Change[][]): string {
  const last = lives.slice(-3).map((changes) => changes.slice(-4).map(({ name }) => name));
  return `\n  changes before each cut: ${last.map((names) => names.join(", ")).join(" | ")}`;
}

/** Cuts `one` everywhere: once at each change, over and over, and twice. */
export async function sweep<World>(one: Case<World>, depth: Depth = {}): Promise<Swept> {
  const { kinds = KINDS, every = 1, pairs = 0 } = depth;
  const swept: Swept = { name: one.name, runs: {}, cuts: 0, changes: 0, problems: [] };
  const [changes = []] = (await run(one, "none", "none", swept)) ?? [];
  swept.changes = changes.length;
  for (const kind of kinds)
    if (changes.some((change) => change.kinds.includes(kind)))
      await run(one, `linear.${kind}`, `linear ${kind}`, swept);
  const singles = cutsOf(changes, kinds).filter(({ at }) => at % every === 0);
  let due = 0;
  for (const { at, kind } of singles) {
    const first = `${at}.${kind}`;
    const [, recovery = []] = (await run(one, first, `all ${kind}`, swept)) ?? [];
    const second = cutsOf(recovery, kinds);
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

/** Cuts `one` at `cuts` places that `dice` picks, clean or torn; every other time once more in the life that follows. */
export async function sample<World>(one: Case<World>, dice: Dice, cuts: number): Promise<Swept> {
  const swept: Swept = { name: one.name, runs: {}, cuts: 0, changes: 0, problems: [] };
  const [changes = []] = (await run(one, "none", "none", swept)) ?? [];
  swept.changes = changes.length;
  const singles = cutsOf(changes, KINDS);
  for (let n = 0; n < cuts && singles.length > 0; n++) {
    const { at, kind } = dice.pick(singles);
    const first = `${at}.${kind}`;
    const [, recovery = []] = (await run(one, first, "single", swept)) ?? [];
    const second = cutsOf(recovery, KINDS);
    if (n % 2 === 0 || second.length === 0) continue;
    const next = dice.pick(second);
    await run(one, `${first}+${next.at}.${next.kind}`, "pairs", swept);
  }
  return swept;
}

/** All cuts that `changes` allow. */
function cutsOf(changes: readonly Change[], kinds: readonly Kind[]): Cut[] {
  return changes.flatMap((change, at) =>
    kinds.filter((kind) => change.kinds.includes(kind)).map((kind) => ({ at, kind })),
  );
}

async function run<World>(
  one: Case<World>,
  plan: Plan,
  label: string,
  swept: Swept,
): Promise<Change[][] | undefined> {
  swept.runs[label] = (swept.runs[label] ?? 0) + 1;
  try {
    const lives = await play(one, plan);
    swept.cuts += lives.length - 1;
    return lives;
  } catch (error) {
    swept.problems.push(error as Problem);
    return undefined;
  }
}

/** One case for each combination of the values; `make` says its name and what it is. Combinations of the same name are one. */
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
