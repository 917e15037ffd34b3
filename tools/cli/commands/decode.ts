// `mote decode`: names the functions of a crash.
import { statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Command } from "commander";
import { codeOf } from "../../../hosts/node/files.js";
import { addressesIn, placeLine, Symbolizer } from "../../moddable/esp32/symbolizer.js";
import { out, plain } from "../output/table.js";
import { UsageError } from "../usage.js";

const NAME = "xs_esp32.elf";
/** As extras/log writes it. */
const BACKTRACE = /\bbacktrace of ([0-9a-f]{16}):/;

const HELP = `
Use the build that the board ran: mote esp32 --build leaves xs_esp32.elf beside the image. Decoding needs addr2line of ESP-IDF: run . $IDF_PATH/export.sh
first. Without addresses, Mote reads a log from standard input and names the functions of each backtrace. A backtrace of another build is not decoded. On
RISC-V chips, a backtrace can include calls that had already returned.

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

async function decode(path: string, texts: readonly string[]): Promise<void> {
  const wrong = texts.find((text) => !/^0x[0-9a-f]{1,8}$/i.test(text));
  if (wrong !== undefined)
    throw new UsageError(`invalid address "${wrong}": expected hexadecimal such as 0x42001234`);
  if (texts.length === 0 && process.stdin.isTTY)
    throw new UsageError("missing addresses: give them as arguments, or pipe a log to standard input");
  const symbolizer = symbolizerAt(path);
  for (const line of placeLines(symbolizer, texts.map(Number))) out(`${line}\n`);
  if (texts.length > 0) return;
  for await (const line of createInterface({ input: process.stdin })) {
    out(`${plain(line)}\n`);
    for (const found of decodeLine(symbolizer, line)) out(`  ${found}\n`);
  }
}

function symbolizerAt(path: string): Symbolizer {
  try {
    return new Symbolizer(statSync(path).isDirectory() ? join(path, NAME) : path);
  } catch (error) {
    const code = codeOf(error);
    const isRead = code === "unknown error";
    throw new UsageError(isRead ? (error as Error).message : `cannot read ${path} (${code})`);
  }
}

/** The function names to show below a line; none without a code address. */
export function decodeLine(symbolizer: Symbolizer, line: string): string[] {
  const addresses = addressesIn(line);
  const build = BACKTRACE.exec(line)?.[1];
  if (build === undefined) return placeLines(symbolizer, addresses);
  if (build !== symbolizer.build)
    return [`not decoded: the backtrace is from another build (this one: ${symbolizer.build})`];
  // The first address is the crash; the others are return addresses, one past their call.
  const kept = addresses.filter((address, at) => at === 0 || symbolizer.followsCall(address));
  return placeLines(symbolizer, kept, 1);
}

/** `back`: bytes to go back from each address except the first. */
function placeLines(symbolizer: Symbolizer, addresses: readonly number[], back = 0): string[] {
  const places = symbolizer.places(addresses.map((address, at) => (at === 0 ? address : address - back)));
  return addresses.map((address, at) => placeLine(address, plain(places[at] ?? "-")));
}
