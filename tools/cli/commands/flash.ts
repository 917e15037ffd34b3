// `mote flash`: writes a build to a board over USB, and shows its serial log.
import { type Command, InvalidArgumentError, Option } from "commander";
import { INTERRUPTED } from "../../exit-codes.js";
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

/** Default of ESP-IDF. */
export const FLASH_BAUD = 460_800;
const [LEAST_BAUD, MOST_BAUD] = [9_600, 5_000_000];

const HELP = `
Writes and verifies the program only: Wi-Fi, token, settings and queued points stay. Refuses a program for another chip or a larger flash, and, without
--erase, one with another partition table.

Then it shows the serial log until Ctrl-C, and names the functions of a crash. Requires esptool 5, which ESP-IDF includes (or: python3 -m pip install
esptool).

Examples:
  mote flash ./greenhouse                        a build of mote esp32 --build
  mote flash ./page --port /dev/ttyUSB0 --no-log a folder of mote esp32 --web
  mote flash ./greenhouse --erase                erase everything first`;

export const baudOption = (): Option =>
  new Option("--baud <rate>", "baud rate; lower it for a bad cable").argParser(baud).default(FLASH_BAUD);

function baud(text: string): number {
  const rate = Number(text);
  if (Number.isSafeInteger(rate) && rate >= LEAST_BAUD && rate <= MOST_BAUD) return rate;
  throw new InvalidArgumentError(`Expected a number from ${LEAST_BAUD} to ${MOST_BAUD}.`);
}

export function flashCommand(program: Command): void {
  program
    .command("flash")
    .description("flash a build over USB, and show the serial log")
    .argument("[folder]", "built project, or folder of mote esp32 --web (default: current)")
    .option("--port <device>", "serial port of the board (default: the only one)")
    .option("--target <name>", "build to use, if there are several for the chip")
    .addOption(baudOption())
    .option("--erase", "erase the board first, including token and queued points")
    .option("--yes", "skip the confirmation prompt")
    .option("--no-log", "do not show the serial log")
    .option("--json", "print JSON, without the serial log")
    .addHelpText("after", HELP)
    .action(async (folder = ".", flags: FlashFlags) => {
      await flash(findFirmware(folder), flags);
    });
}

/** Writes the matching program and `more`, then shows the serial log. */
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
  else note("If the board does not start, release BOOT and press RESET.");
  return flashed;
}

/** Ctrl-C ends esptool; Mote then explains the state of the board. */
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
    throw new ExitError(INTERRUPTED, "interrupted; flash the board again if writing had started", {
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
    `-- log of ${cable.path}; press Ctrl-C to stop${folder === undefined ? ". Function names of crashes need a build" : ""}`,
  );
  await followSerial({
    cable,
    stop: stopSignals().stop,
    line: (coloured) => {
      const text = coloured.replace(COLOUR, "");
      say(text);
      for (const where of decode(text)) say(`  ${where}`);
    },
    note: (text) => say(`-- ${text}`),
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of ESP-IDF's log
const COLOUR = /\u001b\[[\d;]*m/g;
