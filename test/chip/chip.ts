// The chip that is emulated, and what a case has to know of it.
import { join } from "node:path";
import { PROJECT } from "../../tools/project.js";
import { argument } from "../arguments.js";

interface EmulatedChip {
  /** As ESP-IDF names it. */
  readonly name: string;
  /** As a board says it of itself. */
  readonly title: string;
  /** Words for the emulator: its ROM waits for esptool, as after a reset with BOOT held. */
  readonly downloadMode: readonly string[];
  /**
   * The fuses of a new chip, as a file of the emulator. A string: why encrypted flash is not tried
   * on this chip.
   */
  readonly fuses: Buffer | string;
  /**
   * The engine's block of the port's program, in bytes: as much as the largest piece of the heap
   * allows.
   */
  readonly portEngine: number;
}

/**
 * `strap`: what the strapping pins read. The watchdog would end a long transfer: esptool turns off
 * a real one.
 */
const waiting = (chip: string, strap: string): readonly string[] => [
  ...["-global", `driver=${chip}.gpio,property=strap_mode,value=${strap}`],
  ...["-global", `driver=timer.${chip}.timg,property=wdt_disable,value=true`],
];

/** `revision`: the byte that says a revision which has secure boot. */
function newFuses(bytes: number, at: number, revision: number): Buffer {
  const fuses = Buffer.alloc(bytes);
  fuses[at] = revision;
  return fuses;
}

const KNOWN: readonly EmulatedChip[] = [
  {
    name: "esp32c3",
    title: "ESP32-C3",
    downloadMode: waiting("esp32c3", "0x02"),
    fuses: newFuses(1024, 38, 0x0c),
    portEngine: 160_000,
  },
  {
    name: "esp32",
    title: "ESP32",
    downloadMode: waiting("esp32", "0x0f"),
    fuses: "the emulated flash of a classic ESP32 keeps nothing that is written encrypted",
    portEngine: 155_000,
  },
];

export const CHIP_NAMES = KNOWN.map(({ name }) => name);

/** `--chip`; a name that is none is refused by the command. */
export const CHIP = KNOWN.find(({ name }) => name === argument("chip")) ?? KNOWN[0]!;

/** What one run leaves for the next, by chip. */
export const keptAt = (...names: string[]): string => join(PROJECT, "build", "chip", CHIP.name, ...names);
