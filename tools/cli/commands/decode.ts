// `mote decode`: names the functions of a crash.
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { findElf, placesInLine, placesOf } from "../../moddable/esp32/addr2line.js";
import { out, plain } from "../output/table.js";
import { UsageError } from "../usage.js";

const HELP = `
Use the build that the board ran: mote esp32 --build leaves xs_esp32.elf beside the image. Requires addr2line of ESP-IDF: run . $IDF_PATH/export.sh
first. Without addresses, Mote reads a log from standard input and names the functions of each backtrace. A backtrace of another build is not decoded. The
first address is the program counter, the others are return addresses. On RISC-V chips, a backtrace can include calls that had already returned.

Examples:
  mote logs greenhouse-7 --device | mote decode ./greenhouse/build/esp32/bin
  mote decode xs_esp32.elf 0x42001234 0x4038a0b2`;

export function decodeCommand(program: Command): void {
  program
    .command("decode")
    .description("name the functions in a crash backtrace")
    .argument("<build>", "xs_esp32.elf, or its folder")
    .argument("[address...]", "address such as 0x42001234 (default: read a log from standard input)")
    .addHelpText("after", HELP)
    .action(decode);
}

async function decode(path: string, addresses: readonly string[]): Promise<void> {
  const wrong = addresses.find((text) => !/^0x[0-9a-f]{1,8}$/i.test(text));
  if (wrong !== undefined)
    throw new UsageError(`invalid address "${wrong}": expected hexadecimal such as 0x42001234`);
  if (addresses.length === 0 && process.stdin.isTTY)
    throw new UsageError("missing addresses: give them as arguments, or pipe a log to standard input");
  const elf = findElf(path);
  for (const place of placesOf(elf, addresses)) out(`${plain(place)}\n`);
  if (addresses.length > 0) return;
  for await (const line of createInterface({ input: process.stdin }))
    for (const text of [line, ...placesInLine(elf, line).map((place) => `  ${place}`)])
      out(`${plain(text)}\n`);
}
