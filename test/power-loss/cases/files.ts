// What the Node host keeps on disk: the store's values and the sectors, with the power going at
// each call of the file system.
import { join } from "node:path";
import { FileBlocks, SECTOR } from "../../../hosts/node/blocks.js";
import { FileStore } from "../../../hosts/node/store.js";
import type { Power } from "../../fakes/power.js";
import { Disk, ROOT } from "../disk.js";
import type { Case } from "../runner.js";

const STATE = join(ROOT, "state");

interface Storing {
  readonly disk: Disk;
  step: number;
  /**
   * What may be found of each value: the last that was set, and one whose setting the power ended.
   * Undefined: none.
   */
  readonly may: Map<string, (string | undefined)[]>;
}

/** Undefined: deleted. */
const VALUES: readonly [key: string, value: string | undefined][] = [
  ["token", "a".repeat(20)],
  ["client", "b".repeat(4000)],
  ["token", "c".repeat(30)],
  ["client", ""],
  ["token", undefined],
  ["client", "d".repeat(900)],
  ["token", "e"],
];

function storeLives({ disk, may, ...world }: Storing, power: Power, done: (step: number) => void): void {
  disk.start(power);
  const store = new FileStore(join(STATE, "store"));
  for (const [key, values] of may) {
    const bytes = store.get(key);
    const found = bytes && new TextDecoder().decode(bytes);
    if (!values.includes(found))
      throw new Error(`${key} is ${found?.length ?? "no"} bytes of ${found?.slice(0, 3)}`);
    may.set(key, [found]);
  }
  for (const [i, [key, value]] of VALUES.entries()) {
    if (i < world.step) continue;
    may.set(key, [may.get(key)?.at(-1), value]);
    const ok = value === undefined ? store.delete(key) : store.set(key, new TextEncoder().encode(value));
    // Its `catch` is no way out: what it says without power nobody hears.
    power.check();
    if (!ok) throw new Error(`${key} was not set`);
    may.set(key, [value]);
    done(i + 1);
  }
}

const storing: Case<Storing> = {
  name: "files/store",
  begin: () => ({ disk: new Disk(), step: 0, may: new Map() }),
  resume: (world, power) =>
    storeLives(world, power, (step) => {
      world.step = step;
    }),
};

interface Sectors {
  readonly disk: Disk;
  /**
   * In a slot what was written is sure to stay once its sector is full, or something is read or
   * erased.
   */
  readonly use: "queue" | "slot";
  step: number;
  /** Two values that each byte may have. */
  readonly old: Uint8Array;
  readonly next: Uint8Array;
}

const SECTORS = 3;
/** Sector, and what is written to it; without, it is erased. */
const DEEDS: readonly [sector: number, from?: number, length?: number][] = [
  [0],
  [0, 0, 56],
  [0, 56, 700],
  [1],
  [1, 0, SECTOR],
  [0, 756, 13],
  [2],
  [2, 100, 4],
  [0],
  [0, 0, 56],
];

function resumeBlocks(world: Sectors, power: Power): void {
  const { disk, old, next } = world;
  disk.start(power);
  const lines: string[] = [];
  const path = join(STATE, "blocks", world.use);
  const warn = (line: string): void => void lines.push(line);
  const blocks = new FileBlocks(path, SECTORS * SECTOR, warn, world.use);
  const found = new Uint8Array(SECTORS * SECTOR);
  if (lines.length > 0) throw new Error(lines.join());
  if (!blocks.read(0, found)) throw new Error("the blocks can't be read");
  const wrong = found.findIndex((byte, i) => byte !== old[i] && byte !== next[i]);
  if (wrong >= 0) throw new Error(`byte ${wrong} is ${found[wrong]}, not ${old[wrong]} or ${next[wrong]}`);
  // As a log does: a sector with a torn write is erased before anything is written to it again.
  const torn = old.findIndex((byte, i) => byte !== next[i]);
  old.set(found);
  next.set(found);
  if (torn >= 0) deed(world, blocks, power, [Math.floor(torn / SECTOR)]);
  for (; world.step < DEEDS.length; world.step++) deed(world, blocks, power, DEEDS[world.step]!);
}

function deed(
  { old, next, step, use }: Sectors,
  blocks: FileBlocks,
  power: Power,
  what: (typeof DEEDS)[number],
): void {
  const [sector, from = 0, length] = what;
  const at = sector * SECTOR + from;
  if (length === undefined) next.fill(0xff, at, at + SECTOR);
  else for (let i = at; i < at + length; i++) next[i] = (i * 7 + step) & 0xff;
  const ok = length === undefined ? blocks.erase(at) : blocks.write(at, next.slice(at, at + length));
  power.check();
  if (!ok) throw new Error(`${length === undefined ? "erase" : "write"} at ${at} failed`);
  if (use === "queue" || length === undefined || (at + length) % SECTOR === 0) old.set(next);
}

const sectors = (use: Sectors["use"], name: string): Case<Sectors> => ({
  name,
  begin: () => {
    const size = SECTORS * SECTOR;
    return {
      disk: new Disk(),
      use,
      step: 0,
      old: new Uint8Array(size).fill(0xff),
      next: new Uint8Array(size).fill(0xff),
    };
  },
  resume: resumeBlocks,
});

export const filesCases: readonly Case[] = [
  storing,
  sectors("queue", "files/blocks"),
  sectors("slot", "files/slot"),
];
