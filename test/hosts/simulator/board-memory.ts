// The memory of a board, for the simulator: the block that tools/moddable/esp32/chips.ts has for the engine, with as many slots and bytes of chunks as it is split
// into. A board moves memory between the two as they are wanted; here a program is built with one split, and can't grow.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHIPS } from "../../../tools/moddable/esp32/chips.js";
import { PROJECT } from "../../../tools/project.js";
import { programOf } from "./rig.js";

/** Bytes of a slot on a board; the simulator's are larger, chunks are as large. */
export const SLOT = 16;
const OUT = "dist/simulator";
const PROGRAM = "../../../hosts/simulator/program/manifest.json";

export interface BoardMemory {
  readonly slots: number;
  /** In slots; they come out of the block as well. */
  readonly stack: number;
  /** Bytes. */
  readonly chunks: number;
}

const blocks = CHIPS.map(({ engine }) => engine);
/** Bytes of the engine's block where that is smallest, and where it is largest. */
export const SMALLEST = Math.min(...blocks);
export const LARGEST = Math.max(...blocks);

/** `creation` of manifest.json. */
export const creation = (): { static: number; stack: number } =>
  JSON.parse(readFileSync(join(PROJECT, "manifest.json"), "utf8")).creation;

/** A block with `slots` of it for objects, the stack of manifest.json, and chunks in the rest. */
export function boardMemory(block: number, slots: number): BoardMemory {
  const { stack } = creation();
  return { slots, stack, chunks: block - (slots + stack) * SLOT };
}

/** The sample application in that memory. `modules` take the place of its own, by name, in a program that is called `name`. */
export function boardProgram(
  { slots, stack, chunks }: BoardMemory,
  { name = "board", modules = {} as Record<string, string> } = {},
): Promise<string> {
  const folder = join(OUT, `${name}-${slots}-${chunks}`);
  const creation = {
    static: 0,
    chunk: { initial: chunks, incremental: 0 },
    heap: { initial: slots, incremental: 0 },
    stack,
    keys: { initial: 64, incremental: 32 },
  };
  mkdirSync(join(PROJECT, folder), { recursive: true });
  const manifest = { include: [PROGRAM], modules, platforms: { lin: { creation } } };
  writeFileSync(join(PROJECT, folder, "manifest.json"), JSON.stringify(manifest, null, 2));
  return programOf(folder);
}
