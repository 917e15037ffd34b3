import { existsSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { BOARD_NAMES, boardOf } from "../../boards.js";
import { checkBuild } from "../../moddable/esp32/check.js";
import { figureLines } from "../../moddable/esp32/check-figures.js";
import { chipOf } from "../../moddable/esp32/chips.js";
import { warningsOf } from "../../moddable/esp32/config-check.js";
import {
  type BuildOptions,
  buildImage,
  buildScripts,
  FLASH_SIZES,
  type FlashSize,
  sizeOf,
} from "../../moddable/esp32/esp32.js";
import { linkedMemory } from "../../moddable/esp32/linked-memory.js";
import { ENCRYPTIONS } from "../../moddable/esp32/sdkconfig.js";
import { number, share } from "../../moddable/figures.js";
import { buildsIn } from "../../moddable/flash/firmware.js";
import { findSdk, sdkDoubt } from "../../moddable/sdk.js";
import { PROJECT } from "../../project.js";
import { note, outJson } from "../output/table.js";
import { UsageError } from "../usage.js";
import { FLASH_BAUD, flash } from "./flash.js";

interface Esp32Flags {
  board?: string;
  target?: string;
  check?: boolean;
  json?: boolean;
  build?: boolean;
  flashSize?: FlashSize;
  port?: string;
  debug?: boolean;
  encrypt?: (typeof ENCRYPTIONS)[number];
  secureBoot?: string;
}

const HELP = `
Examples:
  mote esp32 --check --target esp32/esp32c3              check without ESP-IDF
  mote esp32 --board xiao-esp32s3 ./greenhouse           build and flash
  mote esp32 --build --target esp32/esp32c3 ./greenhouse build only
  mote esp32 --target esp32/esp32c3 --port /dev/ttyUSB0  build and flash over this port`;

/** `mote esp32`: builds a project for a board, and flashes it. */
export function esp32Command(program: Command): void {
  program
    .command("esp32")
    .description(
      "build for an ESP32 board and flash it; requires the Moddable SDK and, except with --check, ESP-IDF",
    )
    .argument("[folder]", "project of mote new (default: the sample application)")
    .addOption(
      new Option("--board <name>", "known board; sets --target and --flash-size")
        .choices(BOARD_NAMES)
        .conflicts("target"),
    )
    .option("--target <name>", 'target of the SDK, such as esp32/esp32c3 (default: "esp32")')
    .addOption(new Option("--check", "check the build without ESP-IDF, and print sizes").conflicts("build"))
    .option("--json", "with --check: print JSON; exit code 1 if something is wrong")
    .option("--build", "build only, and print the size of the image")
    .addOption(
      new Option(
        "--flash-size <size>",
        `flash size: ${FLASH_SIZES.map((size) => `${size}MB`).join(", ")} (default: 4MB, or the board's)`,
      ).argParser(flashSize),
    )
    .option("--port <device>", "serial port of the board (default: esptool finds it)")
    .addOption(
      new Option(
        "--encrypt <mode>",
        "encrypt flash and NVS; the first start burns eFuses permanently",
      ).choices(ENCRYPTIONS),
    )
    .option(
      "--secure-boot <key.pem>",
      "sign the image; the chip will then only start signed images, permanently",
    )
    .option("--debug", "debug build with logging (xsbug)")
    .addHelpText("after", HELP)
    .action(async (folder: string | undefined, flags: Esp32Flags) => {
      process.exitCode = await esp32(folder, flags);
    });
}

function flashSize(text: string): FlashSize {
  const size = FLASH_SIZES.find((known) => text === `${known}` || text === `${known}MB`);
  if (size === undefined)
    throw new InvalidArgumentError(`Expected ${FLASH_SIZES.map((size) => `${size}MB`).join(", ")}.`);
  return size;
}

async function esp32(folder: string | undefined, flags: Esp32Flags): Promise<number> {
  const build = optionsOf(folder, flags);
  const doubt = sdkDoubt(build.sdk);
  if (doubt !== undefined) note(doubt);
  if (flags.json && !flags.check) throw new UsageError("--json requires --check");
  if (flags.check) return check(build, flags.json === true);
  note("building: the first time takes several minutes");
  const image = await buildImage(build);
  const file = relative(process.cwd(), join(image.folder, "xs_esp32.bin"));
  const { bytes, room } = sizeOf(image);
  const free = share(room - bytes, room);
  process.stdout.write(
    `${build.target}\nimage: ${number(bytes)} bytes of a slot's ${number(room)}: ${free} free\nto push: ${file}\n`,
  );
  const memory = linkedMemory(image.folder, chipOf(build.sdk, build.target));
  if (memory)
    note(
      `memory: ${number(memory.engine)} bytes for the engine, of them ${number(memory.application)} for the application`,
    );
  for (const line of warningsOf(image.directory)) note(`warning: ${line}`);
  if (bytes > room) {
    process.stderr.write("wrong: the image does not fit its slot\n");
    return 1;
  }
  if (flags.build) return 0;
  const { board } = await flash(buildsIn(build.out), {
    baud: FLASH_BAUD,
    ...(flags.port && { port: flags.port }),
  });
  if (flags.debug) process.stdout.write(`${debuggerOf(image.folder, board.port)}\n`);
  return 0;
}

function optionsOf(folder: string | undefined, flags: Esp32Flags): BuildOptions {
  const board = flags.board === undefined ? undefined : boardOf(flags.board);
  const target = flags.target ?? board?.target ?? "esp32";
  return {
    sdk: findSdk(),
    folder: folder ?? join(PROJECT, "examples", "sample"),
    target,
    debug: flags.debug ?? false,
    megabytes: flags.flashSize ?? board?.flash ?? 4,
    encrypt: flags.encrypt,
    secureBoot: flags.secureBoot && keyFile(flags.secureBoot),
    config: {},
    out: join(folder === undefined ? PROJECT : resolve(folder), "build", target.replace("/", "-")),
  };
}

/** ESP-IDF reads the key while it builds. */
function keyFile(path: string): string {
  if (!existsSync(path))
    throw new UsageError(
      `--secure-boot: ${path} does not exist (create it: espsecure generate-signing-key --version 2 ${path})`,
    );
  return resolve(path);
}

async function check(build: BuildOptions, asJson: boolean): Promise<number> {
  const { wrong, warnings, figures } = checkBuild(await buildScripts(build), build);
  if (asJson) outJson({ wrong, warnings, ...figures });
  else process.stdout.write(`${[build.target, ...figureLines(figures)].join("\n")}\n`);
  if (!asJson) for (const line of warnings) note(`warning: ${line}`);
  for (const line of wrong) process.stderr.write(`wrong: ${line}\n`);
  if (!asJson && wrong.length === 0) process.stdout.write("check passed\n");
  return wrong.length === 0 ? 0 : 1;
}

/** Prints the command instead of running it: the SDK would end other programs of that name. */
const debuggerOf = (folder: string, port: string): string =>
  `Debugger (start xsbug first): serial2xsbug ${port} 460800 8N1 -elf ${join(folder, "xs_esp32.elf")}`;
