// What the plugin counted (plugin/count.c says how it lies in the file), and what two looks at it
// differ by.
import { closeSync, openSync, readSync } from "node:fs";

const MAGIC = "motecnt1";
const HEAD = 24;
const PLACE = 16;

/** Instructions and runs of the blocks that begin at an address. */
interface Block {
  readonly instructions: number;
  readonly runs: number;
}

export interface Counts {
  /** Instructions since the start. */
  readonly total: number;
  readonly blocks: ReadonlyMap<number, Block>;
}

/** Throws if it is no file of the plugin. */
function readCounts(bytes: Buffer): Counts {
  if (bytes.subarray(0, 8).toString("latin1") !== MAGIC) throw new Error("no file of the counting plugin");
  const places = bytes.readUInt32LE(16);
  const blocks = new Map<number, Block>();
  for (let i = 0; i < places; i++) {
    const at = HEAD + i * PLACE;
    const address = bytes.readUInt32LE(at);
    if (address === 0) continue;
    const runs = Number(bytes.readBigUInt64LE(at + 8));
    const before = blocks.get(address) ?? { instructions: 0, runs: 0 };
    const instructions = before.instructions + runs * bytes.readUInt32LE(at + 4);
    blocks.set(address, { instructions, runs: before.runs + runs });
  }
  return { total: Number(bytes.readBigUInt64LE(8)), blocks };
}

/** What came between two looks. */
export function difference(before: Counts, after: Counts): Counts {
  const blocks = new Map<number, Block>();
  for (const [address, { instructions, runs }] of after.blocks) {
    const old = before.blocks.get(address) ?? { instructions: 0, runs: 0 };
    if (runs > old.runs)
      blocks.set(address, { instructions: instructions - old.instructions, runs: runs - old.runs });
  }
  return { total: after.total - before.total, blocks };
}

/** The file at `path` now, while the chip runs. */
export function lookAtCounts(path: string): Counts {
  return readCounts(wholeFile(path));
}

/** The sum alone: cheap enough to ask every few milliseconds. */
export function lookAtTotal(path: string): number {
  const bytes = Buffer.alloc(HEAD);
  const file = openSync(path, "r");
  try {
    readSync(file, bytes, 0, HEAD, 0);
  } finally {
    closeSync(file);
  }
  return Number(bytes.readBigUInt64LE(8));
}

/** One read each: what is read was there at nearly the same moment. */
function wholeFile(path: string): Buffer {
  const file = openSync(path, "r");
  try {
    const head = Buffer.alloc(HEAD);
    readSync(file, head, 0, HEAD, 0);
    const bytes = Buffer.alloc(HEAD + PLACE * head.readUInt32LE(16));
    readSync(file, bytes, 0, bytes.length, 0);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/**
 * Instructions for each tick of the system's clock while nothing is done: what the tick and the
 * idle task cost, and polls if they are part of it.
 */
export interface Idle {
  readonly instructions: number;
  readonly ticks: number;
}

/**
 * What a piece of work cost, without what the same time would have cost had nothing been done. Time
 * goes by the chip's own ticks, so that a busy machine, on which the chip's time stands still,
 * changes nothing.
 */
export const withoutIdle = (spent: Idle, idle: Idle): number =>
  idle.ticks === 0 ? spent.instructions : spent.instructions - (spent.ticks * idle.instructions) / idle.ticks;
