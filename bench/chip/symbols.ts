// Functions and objects of an image, as nm of the chip's toolchain lists them.
import { execFileSync } from "node:child_process";
import { CHIP } from "../../test/chip/chip.js";
import type { Counts } from "./counts.js";

export interface Symbols {
  /** From a function's or an object's first byte to behind its last. */
  range(name: string): readonly [from: number, to: number] | undefined;
  /** The function that holds an address. */
  at(address: number): string;
}

const NM = `${CHIP.name === "esp32" ? "xtensa-esp32" : "riscv32-esp"}-elf-nm`;
/** Name, address, type, size and section. */
const SYMBOL = /^(\S+) *\|([0-9a-f]+)\|.*\| *(FUNC|OBJECT|NOTYPE)\|([0-9a-f]*) *\|.*\|(.*)$/gm;
const LARGEST_LIST = 64 * 1024 * 1024;
/** The ROM's code. The linker's scripts name its functions, without a type. */
const ROM = { from: 0x40000000, to: 0x40060000 } as const;
/** Functions of the assembler have no size. */
const LONGEST_UNSIZED = 4096;
const UNKNOWN = "(unknown)";

const isRom = (address: number): boolean => address >= ROM.from && address < ROM.to;

export const readSymbols = (elf: string): Symbols =>
  symbolsOf(
    execFileSync(NM, ["--defined-only", "--format=sysv", elf], {
      encoding: "utf8",
      maxBuffer: LARGEST_LIST,
    }),
  );

function symbolsOf(list: string): Symbols {
  const ranges = new Map<string, readonly [number, number]>();
  const functions: { name: string; from: number; to: number }[] = [];
  for (const [, name = "", at = "", type, size = "", section] of list.matchAll(SYMBOL)) {
    const from = Number.parseInt(at, 16);
    const to = from + (Number.parseInt(size, 16) || 0);
    const isRomFunction = type === "NOTYPE" && section === "*ABS*" && isRom(from);
    if (type === "NOTYPE" && !isRomFunction) continue;
    ranges.set(name, [from, to]);
    if (type !== "OBJECT") functions.push({ name, from, to: to === from ? from + LONGEST_UNSIZED : to });
  }
  functions.sort((one, other) => one.from - other.from);
  return {
    range: (name) => ranges.get(name),
    at(address) {
      let [low, high] = [0, functions.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (functions[middle]!.from <= address) low = middle + 1;
        else high = middle;
      }
      const nearest = functions[low - 1];
      return nearest && address < nearest.to ? nearest.name : UNKNOWN;
    },
  };
}

/** Instructions outside the program: those of the ROM, and of the boot loader (no symbols). */
export function loaderInstructions({ blocks }: Pick<Counts, "blocks">, symbols: Symbols): number {
  let sum = 0;
  for (const [address, { instructions }] of blocks)
    if (isRom(address) || symbols.at(address) === UNKNOWN) sum += instructions;
  return sum;
}
