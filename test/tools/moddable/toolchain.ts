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

/** `main` is at 0x42000000 to 17 and `leaf` from 0x42000018 on; calls return to 04, 0c, 0e and 12. */
const ADDR2LINE = `#!/bin/sh
for a in "$@"; do case $a in
  0x4200000?|0x4200001[0-7]) echo "$a: main at app.c:7"; echo " (inlined by) loop at app.c:9";;
  0x4200001[89a-f]) echo "$a: leaf at ??:?";;
  0x*) echo "$a: ?? ??:0";;
esac; done`;
const OBJDUMP = `#!/bin/sh
for a in "$@"; do case $a in
  --stop-address=0x42000004) printf '42000000:\\t018000ef\\tjal\\tra,42000018\\n';;
  --stop-address=0x4200000c) printf '42000008:\\t000580e7\\tjalr\\tra,0(a1)\\n';;
  --stop-address=0x4200000e) printf '4200000c:\\t9502\\tc.jalr\\ta0\\n';;
  --stop-address=0x42000012) printf '42000010:\\t2021\\tc.jal\\t42000018\\n';;
  --stop-address=0x42000018) printf '42000014:\\t0040006f\\tjal\\tzero,42000018\\n';;
  --stop-address=*) printf '42000004:\\t00000013\\taddi\\tzero,zero,0\\n';;
esac; done`;

/** Writes the tools into the folder. Returns a path that finds them first. */
export function fakeToolchain(folder: string): string {
  writeProgram(folder, "riscv32-esp-elf-addr2line", ADDR2LINE);
  writeProgram(folder, "riscv32-esp-elf-objdump", OBJDUMP);
  return `${folder}${delimiter}${process.env.PATH}`;
}
