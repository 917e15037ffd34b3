// `mote decode`: the functions at the addresses of a crash.
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
The build is the one that the board ran: mote esp32 --build leaves xs_esp32.elf beside the image. The addr2line of ESP-IDF's toolchain names the functions, so
run . $IDF_PATH/export.sh first. Without addresses, lines are read from the standard input and shown with the functions at their addresses: of mote logs
--device, or of a serial line. A backtrace names its build; one of another build is not decoded. A backtrace of a RISC-V chip has the return addresses
that stood on the stack, so calls that were over may stand among them.

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

async function decode(path: string, texts: readonly string[]): Promise<void> {
  const wrong = texts.find((text) => !/^0x[0-9a-f]{1,8}$/i.test(text));
  if (wrong !== undefined) throw new UsageError(`invalid address "${wrong}": expected one like 0x42001234`);
  if (texts.length === 0 && process.stdin.isTTY)
    throw new UsageError("give addresses, or lines on the standard input");
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
    throw new UsageError(isRead ? (error as Error).message : `${path} can't be read (${code})`);
  }
}

/** The lines to show below a line: none where it has no code address. */
export function decodeLine(symbolizer: Symbolizer, line: string): string[] {
  const addresses = addressesIn(line);
  const build = BACKTRACE.exec(line)?.[1];
  if (build === undefined) return placeLines(symbolizer, addresses);
  if (build !== symbolizer.build) return [`of another build: this one is ${symbolizer.build}`];
  // The first is where it was, the others are where calls return to: the call itself is before.
  const kept = addresses.filter((address, at) => at === 0 || symbolizer.followsCall(address));
  return placeLines(symbolizer, kept, 1);
}

/** `back`: how many bytes before each address but the first the place is looked up. */
function placeLines(symbolizer: Symbolizer, addresses: readonly number[], back = 0): string[] {
  const places = symbolizer.places(addresses.map((address, at) => (at === 0 ? address : address - back)));
  return addresses.map((address, at) => placeLine(address, plain(places[at] ?? "-")));
}
