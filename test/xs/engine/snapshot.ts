// The engine's own picture of what is alive: atoms of a length, a name and what they hold, one
// after the other.
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { read } from "../../architecture/tree.js";
import { netstring } from "./netstrings.js";

/** Of the snapshot as a whole, and of each atom: its length and its name. */
const HEAD = 8;
/** Bytes of a slot of the stack on a desk. */
const SLOT_BYTES = 32;
/** In the atom of the machine's creation, a structure of C: stackCount. */
const STACK_AT = 16;
/** What the machine of a board, a clone of that in ROM, has on its stack before a script runs. */
const CLONE_SLOTS = 18;

/** Where the atom of this name begins, behind its head, and how many bytes it holds. */
function atom(bytes: Buffer, name: string): { at: number; length: number } {
  for (let at = HEAD; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    if (bytes.toString("latin1", at + 4, at + HEAD) === name) return { at: at + HEAD, length: length - HEAD };
    at += Math.max(length, HEAD);
  }
  throw new Error(`the snapshot has no ${name}`);
}

/**
 * Bytes of the chunks (texts, buffers, code) in the snapshot that `write` leaves at the path it is
 * given.
 */
export async function chunkBytes(write: (path: string) => Promise<void>): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "mote-xs-"));
  try {
    const path = join(directory, "snapshot");
    await write(path);
    return atom(readFileSync(path), "BLOC").length;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Slots of stack that a board's manifest gives the engine. */
export const boardStack = (): number =>
  (JSON.parse(read("manifest.json")) as { creation: { stack: number } }).creation.stack;

const snapshots = new Map<number, string>();

/**
 * A snapshot of a new machine whose stack is a board's, for the worker's option -r: its own
 * creation has 4,096 slots, and no option for that. Written once in a process. `entrySlots`: slots
 * that a large entry takes while it is evaluated, and a board's modules do not.
 */
export function boardSnapshot(worker: string, entrySlots = 0): string {
  const path = snapshots.get(entrySlots);
  if (path !== undefined) return path;
  const directory = mkdtempSync(join(tmpdir(), "mote-xs-"));
  process.once("exit", () => rmSync(directory, { recursive: true, force: true }));
  const snapshot = join(directory, "snapshot");
  const order = join(directory, "order");
  writeFileSync(order, netstring("w", Buffer.from(snapshot)));
  const from = openSync(order, "r");
  const { status, stderr } = spawnSync(worker, ["mote"], {
    stdio: ["ignore", "ignore", "pipe", from, "pipe"],
  });
  closeSync(from);
  if (status !== 0) throw new Error(`the engine wrote no snapshot: ${stderr}`);
  const bytes = readFileSync(snapshot);
  // What a board has in ROM lies on the stack here.
  const used = atom(bytes, "STAC").length / SLOT_BYTES;
  bytes.writeUInt32LE(
    Math.floor(used) + boardStack() - CLONE_SLOTS + entrySlots,
    atom(bytes, "CREA").at + STACK_AT,
  );
  writeFileSync(snapshot, bytes);
  snapshots.set(entrySlots, snapshot);
  return snapshot;
}
