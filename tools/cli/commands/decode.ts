// `mote decode`: what the addresses of a crash lie in.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { Elf } from "../../moddable/esp32/elf.js";
import { out, plain } from "../output/table.js";
import { UsageError } from "../usage.js";

const NAME = "xs_esp32.elf";
const ADDRESS = /\b0x(4[0-9a-f]{7})\b/gi;
/** As src/log writes it. */
const BACKTRACE = /\bbacktrace of ([0-9a-f]{16}):/;

const HELP = `
The build is the one that the board ran: mote esp32 --build leaves xs_esp32.elf beside the image. Without addresses, lines are read from the standard input
and shown with what their addresses lie in: of mote logs --device, or of a serial line. A backtrace says which build it is of; one of another build is
not named. Of a RISC-V chip it is what looked like a return address on the stack: what follows no call is left out here, and what remains may hold
calls that were over.

Examples:
  mote logs greenhouse-7 --device | mote decode ./greenhouse/build/esp32/bin
  mote decode xs_esp32.elf 0x42001234 0x4038a0b2`;

export function decodeCommand(program: Command): void {
  program
    .command("decode")
    .description("name the functions of a crash's addresses, by the build that crashed")
    .argument("<build>", "xs_esp32.elf, or the folder that has it")
    .argument("[address...]", "like 0x42001234 (default: the lines of the standard input)")
    .addHelpText("after", HELP)
    .action(decode);
}

async function decode(path: string, addresses: readonly string[]): Promise<void> {
  const elf = elfAt(path);
  for (const address of addresses) {
    if (!/^0x[0-9a-f]{1,8}$/i.test(address)) throw new UsageError(`${address} is no address like 0x42001234`);
    out(`${placeLine(elf, Number(address))}\n`);
  }
  if (addresses.length > 0) return;
  if (process.stdin.isTTY) throw new UsageError("addresses are needed, or lines on the standard input");
  for await (const line of createInterface({ input: process.stdin })) {
    out(`${plain(line)}\n`);
    for (const found of decodeLine(elf, line)) out(`  ${found}\n`);
  }
}

function elfAt(path: string): Elf {
  const bytes = bytesAt(path);
  try {
    return new Elf(bytes);
  } catch (error) {
    throw new UsageError(`${path}: ${(error as Error).message}`);
  }
}

function bytesAt(path: string): Buffer {
  try {
    return readFileSync(statSync(path).isDirectory() ? join(path, NAME) : path);
  } catch (error) {
    throw new UsageError(`${path} can't be read (${codeOf(error)})`);
  }
}

/** What stands below a line: nothing where there are no addresses of code. */
export function decodeLine(elf: Elf, line: string): string[] {
  const addresses = [...line.matchAll(ADDRESS)].map(([whole]) => Number(whole));
  const build = BACKTRACE.exec(line)?.[1];
  if (build === undefined) return addresses.map((address) => placeLine(elf, address));
  if (build !== elf.build) return [`of another build: this one is ${elf.build}`];
  // The first is where it was: nothing returns there. A call that never returns may be its function's end: what follows is another.
  const kept = addresses.filter((address, at) => at === 0 || elf.followsCall(address));
  return kept.map((address, at) => placeLine(elf, address, at === 0 ? 0 : 1));
}

function placeLine(elf: Elf, address: number, back = 0): string {
  const place = elf.placeOf(address - back);
  const where = place ? `${plain(place.name)} +${place.within + back}` : "-";
  return `0x${address.toString(16).padStart(8, "0")}  ${where}`;
}
