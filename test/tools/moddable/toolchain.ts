// A stand-in for ESP-IDF's RISC-V toolchain, and a file with the head of a board's ELF file for it.
import { createHash } from "node:crypto";
import { delimiter } from "node:path";
import { writeProgram } from "../scratch.js";

const RISCV = 243;

/** The tools look at the head alone. */
export function elfHead(machine = RISCV): Buffer {
  const head = Buffer.alloc(52);
  head.set([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]);
  head.writeUInt16LE(machine, 18);
  return head;
}

/** The image's name in a board's log. */
export const buildOf = (elf: Buffer): string => createHash("sha256").update(elf).digest("hex").slice(0, 16);

/** `main` is at 0x42000000 to 17 and `leaf` from 0x42000018 on. */
const ADDR2LINE = `#!/bin/sh
for a in "$@"; do case $a in
  0x4200000?|0x4200001[0-7]) echo "$a: main at app.c:7"; echo " (inlined by) loop at app.c:9";;
  0x4200001[89a-f]) echo "$a: leaf at ??:?";;
  0x*) echo "$a: ?? ??:0";;
esac; done`;
/** Writes the tools into the folder. Returns a path that finds them first. */
export function fakeToolchain(folder: string): string {
  writeProgram(folder, "riscv32-esp-elf-addr2line", ADDR2LINE);
  return `${folder}${delimiter}${process.env.PATH}`;
}
