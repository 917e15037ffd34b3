// What an image leaves for the engine and the application, by ESP-IDF's map of the linked image.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { applicationShare, engineBlock } from "../../../hosts/esp32/memory-plan.js";
import type { Chip } from "./chips.js";

/** Where the heap begins: behind the code and the data in RAM. */
const HEAP_START = /^\s+0x([0-9a-f]+)\s+_heap_start = /m;

export interface LinkedMemory {
  /** The engine's block, in bytes. */
  readonly engine: number;
  /** The application's share of it. */
  readonly application: number;
}

/** Undefined where the chip was not measured. `folder`: ESP-IDF's output. */
export function linkedMemory(folder: string, chip: Chip): LinkedMemory | undefined {
  const map = join(folder, "xs_esp32.map");
  if (chip.heapStart === undefined || !existsSync(map)) return undefined;
  const [, start] = HEAP_START.exec(readFileSync(map, "utf8")) ?? [];
  if (start === undefined) return undefined;
  const more = chip.heapStart - Number.parseInt(start, 16);
  const engine = engineBlock(chip.engine, chip.heap + more, chip.largest + more);
  return { engine, application: applicationShare(engine) };
}
