// `mote flash`: writes a build to a board over USB, or a web page that does.
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Part } from "../../moddable/esp32/flash-image.js";
import { findEsptool } from "../../moddable/flash/esptool.js";
import { type Flashable, findFirmware, ofTarget } from "../../moddable/flash/firmware.js";
import { type Flashed, flashBoard } from "../../moddable/flash/flash-board.js";
import { writeWebPage } from "../../moddable/flash/web-page.js";
import { confirm } from "../ask.js";
import { note, out, plain } from "../output/table.js";

export interface FlashFlags {
  port?: string;
  target?: string;
  baud: number;
  erase?: boolean;
  yes?: boolean;
}

/** Default of ESP-IDF. */
export const FLASH_BAUD = 460_800;
const [LEAST_BAUD, MOST_BAUD] = [9_600, 5_000_000];

const HELP = `
Writes and verifies the program only: Wi-Fi, token, settings and queued points stay. Refuses a program for another chip or a larger flash, and, without
--erase, one with another partition table. Requires esptool 5, which ESP-IDF includes (or: python3 -m pip install esptool).

--web writes the builds of all chips to a folder, with a page (ESP Web Tools) that flashes boards and sets up the Wi-Fi in Chrome or Edge. Serve it over
https, or on localhost. Anyone who can read the folder can read all built-in keys and passwords.

Examples:
  mote flash ./greenhouse                        a build of mote esp32 --build
  mote flash ./greenhouse --erase                erase everything first
  mote flash ./greenhouse --web ./page           write the page
  mote flash ./page --port /dev/ttyUSB0          flash from its folder`;

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
    .description("flash a build over USB, or write a web page that flashes it")
    .argument("[folder]", "built project, or folder of mote flash --web (default: current)")
    .option("--port <device>", "serial port of the board (default: esptool finds it)")
    .option("--target <name>", "build to use, if there are several for the chip")
    .addOption(baudOption())
    .option("--erase", "erase the board first, including token and queued points")
    .option("--yes", "skip the confirmation prompt")
    .addOption(
      new Option("--web <dir>", "write a web page that flashes the builds, instead of flashing").conflicts([
        "port",
        "erase",
      ]),
    )
    .addHelpText("after", HELP)
    .action(async (folder = ".", flags: FlashFlags & { web?: string }) => {
      const found = findFirmware(folder);
      if (flags.web === undefined) await flash(found, flags);
      else {
        const { web, target } = flags;
        writeWebPage(ofTarget(found, target), web);
        note(`Written to ${web}. Serve it, for example: python3 -m http.server -d ${web} --bind 127.0.0.1`);
      }
    });
}

/** Writes the matching program and `more`. */
export async function flash(
  programs: readonly Flashable[],
  flags: FlashFlags,
  more: readonly Part[] = [],
): Promise<Flashed> {
  const esptool = await findEsptool();
  const say = (line: string): void => out(`${plain(line)}\n`);
  say(`esptool   ${esptool.version}`);
  const flashed = await flashBoard(esptool, programs, {
    port: flags.port,
    baud: flags.baud,
    target: flags.target,
    erase: flags.erase === true,
    more,
    say,
    confirm: (question) => confirm(question, flags.yes),
  });
  say(
    `written   ${flashed.firmware.parts.length} parts, ${flashed.bytes.toLocaleString("en")} bytes, verified`,
  );
  say(monitorOf(flashed.board.port, flashed.firmware.folder));
  note("If the board does not start, release BOOT and press RESET.");
  return flashed;
}

/** The command that shows the serial log. ESP-IDF installs the monitor. */
const monitorOf = (port: string, folder: string | undefined): string =>
  `Serial log: python -m esp_idf_monitor --port ${port}${folder === undefined ? "" : ` ${join(folder, "xs_esp32.elf")}`}`;
