// `mote flash`: a build, or a folder for a web page, onto the board at a serial port; then what it prints.
import { type Command, InvalidArgumentError, Option } from "commander";
import { INTERRUPTED } from "../../../hosts/node/exit.js";
import type { Part } from "../../moddable/esp32/flash-image.js";
import { decoder } from "../../moddable/esp32/symbolizer.js";
import { findEsptool } from "../../moddable/flash/esptool.js";
import { type Flashable, findFirmware } from "../../moddable/flash/firmware.js";
import { type Flashed, flashBoard } from "../../moddable/flash/flash-board.js";
import { checkPort, choosePort, listPorts } from "../../moddable/flash/ports.js";
import { ReturningPort } from "../../moddable/flash/returning-port.js";
import { followSerial } from "../../moddable/flash/serial-log.js";
import { confirm } from "../ask.js";
import { ExitError } from "../exit-error.js";
import { note, out, outJson, plain } from "../output/table.js";
import { stopSignals } from "../stop.js";

export interface FlashFlags {
  port?: string;
  target?: string;
  baud: number;
  erase?: boolean;
  yes?: boolean;
  log: boolean;
  json?: boolean;
}

/** As ESP-IDF has it. */
export const FLASH_BAUD = 460_800;
const [LEAST_BAUD, MOST_BAUD] = [9_600, 5_000_000];

const HELP = `
Writes the program alone, each part verified: Wi-Fi, token, settings and waiting points stay. It refuses a program for another chip, for a larger
flash than the board's, and, without --erase, one with another partition table. No other program is ended: a port in use is named.

Then it shows what the board prints, crashes with the names of functions, until Ctrl-C. Needs esptool 5 (python3 -m pip install esptool), which
ESP-IDF brings along.

Examples:
  mote flash ./greenhouse                        what mote esp32 --build built of it, for the chip that is found
  mote flash ./page --port /dev/ttyUSB0 --no-log what mote esp32 --web wrote
  mote flash ./greenhouse --erase                another partition table, or a new beginning`;

export const baudOption = (): Option =>
  new Option("--baud <rate>", "of writing; less at a bad cable").argParser(baud).default(FLASH_BAUD);

function baud(text: string): number {
  const rate = Number(text);
  if (Number.isSafeInteger(rate) && rate >= LEAST_BAUD && rate <= MOST_BAUD) return rate;
  throw new InvalidArgumentError(`It is a number from ${LEAST_BAUD} to ${MOST_BAUD}.`);
}

export function flashCommand(program: Command): void {
  program
    .command("flash")
    .description("flash a board by its cable with what was built, and show what it prints")
    .argument("[folder]", "a project that was built, or a folder of mote esp32 --web (default: this one)")
    .option("--port <device>", "the serial port of the board (default: the only one)")
    .option("--target <name>", "which build, where there are several for the chip")
    .addOption(baudOption())
    .option("--erase", "erase all that the board stored, token and waiting points too; asks first")
    .option("--yes", "do not ask")
    .option("--no-log", "end when it is written")
    .option("--json", "JSON on the standard output, for programs; no log")
    .addHelpText("after", HELP)
    .action(async (folder = ".", flags: FlashFlags) => {
      await flash(findFirmware(folder), flags);
    });
}

/** Writes what fits the board, `more` beside it, and shows its log if that is wanted. */
export async function flash(
  programs: readonly Flashable[],
  flags: FlashFlags,
  more: readonly Part[] = [],
): Promise<Flashed> {
  const esptool = await findEsptool();
  const port = choosePort(flags.port, flags.port === undefined ? listPorts() : undefined);
  checkPort(port);
  const say = (line: string): void => {
    if (!flags.json) out(`${plain(line)}\n`);
  };
  say(`esptool   ${esptool.version}`);
  const flashed = await whole(() =>
    flashBoard(esptool, programs, {
      cable: new ReturningPort(port, say),
      baud: flags.baud,
      target: flags.target,
      erase: flags.erase === true,
      more,
      aside: flags.json === true,
      say,
      confirm: (question) => confirm(question, flags.yes),
    }),
  );
  if (flags.json) {
    outJson(reportOf(flashed, flags.erase === true));
    return flashed;
  }
  say(
    `written   ${flashed.firmware.parts.length} parts, ${flashed.bytes.toLocaleString("en")} bytes, verified`,
  );
  if (flags.log) await showLog(flashed, say);
  else note("a board that does not start is in its download mode still: let go of BOOT and press RESET");
  return flashed;
}

/** Ctrl-C ends esptool; this stays to say what that means. */
async function whole<T>(work: () => Promise<T>): Promise<T> {
  let isInterrupted = false;
  const note = (): void => {
    isInterrupted = true;
  };
  process.on("SIGINT", note);
  try {
    return await work();
  } catch (error) {
    if (!isInterrupted) throw error;
    throw new ExitError(INTERRUPTED, "interrupted; if it had begun to write, flash the board again", {
      cause: error,
    });
  } finally {
    process.off("SIGINT", note);
  }
}

const reportOf = ({ cable, board, firmware, bytes, table }: Flashed, erased: boolean) => ({
  port: cable.path,
  chip: board.chip,
  mac: board.mac,
  flashBytes: board.flashBytes ?? null,
  title: firmware.name,
  version: firmware.version,
  target: firmware.target,
  parts: firmware.parts,
  bytes,
  partitionTable: table,
  erased,
});

async function showLog({ cable, firmware }: Flashed, say: (line: string) => void): Promise<void> {
  const { folder, chip } = firmware;
  const decode = folder === undefined ? () => [] : decoder({ directory: folder, folder, chip }, process.env);
  say(
    `-- what ${cable.path} prints; Ctrl-C ends it${folder === undefined ? ". A crash has no names of functions here: they come from a build" : ""}`,
  );
  await followSerial({
    port: cable.path,
    look: () => cable.look(),
    stop: stopSignals().stop,
    line: (coloured) => {
      const text = coloured.replace(COLOUR, "");
      say(text);
      for (const where of decode(text)) say(`  ${where}`);
    },
    note: (text) => say(`-- ${text}`),
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: of ESP-IDF's log levels
const COLOUR = /\u001b\[[\d;]*m/g;
