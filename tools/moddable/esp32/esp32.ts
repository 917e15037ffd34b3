// Builds a project for an ESP32 with mcconfig, with the target's options of ESP-IDF and then ours.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { PROJECT } from "../../project.js";
import { mainIn, refuseMissingModules, sourceAt } from "../../run/project/bundle.js";
import { modulesIn } from "../board-modules.js";
import { makeBuildFolder } from "../build-folder.js";
import { refusePrivateKeys } from "../private-keys.js";
import { lastLines, run } from "../program.js";
import { environmentOf, type Sdk, SdkError } from "../sdk.js";
import { chipOf, targetFolder } from "./chips.js";
import { checkConfig } from "./config-check.js";
import { findIdf, idfForCheck } from "./idf.js";
import { imageRoom, readPartitions, secureTable } from "./partitions.js";
import { ignoredOptions, mergeOptions, type Protection, protectionOptions } from "./sdkconfig.js";
import { wrapComponent } from "./wrap-component.js";

const OURS = join(PROJECT, "hosts", "esp32", "flash", "sdkconfig");
const EMULATED = join(PROJECT, "hosts", "esp32", "emulator", "manifest.json");
const EMULATED_OPTIONS = join(PROJECT, "hosts", "esp32", "emulator", "sdkconfig.defaults");
/** The emulated radio has no clock that ESP-IDF would find running. */
const EMULATED_WIFI = "CONFIG_COMPILER_OPTIMIZATION_ASSERTIONS_DISABLE=y\n";
/** Options that one chip has. */
const CHIP_OPTIONS: Readonly<Record<string, string>> = {
  // TLS buffers use instruction memory that the image leaves free, because data memory is too small
  // for three connections, Wi-Fi and an update. In that memory, an access to less than a word
  // takes up to 167 cycles.
  // Code in RAM takes memory from the heap. Wi-Fi runs from flash instead, which costs throughput
  // that a device of this kind does not use, and so does the heap: no interrupt that runs while
  // flash is written uses it. The flash driver stays, because the one in ROM knows fewer flash
  // chips.
  esp32c3:
    "CONFIG_ESP_WIFI_IRAM_OPT=n\nCONFIG_ESP_WIFI_RX_IRAM_OPT=n\nCONFIG_HEAP_PLACE_FUNCTION_INTO_FLASH=y\n",
  esp32: "CONFIG_ESP32_IRAM_AS_8BIT_ACCESSIBLE_MEMORY=y\nCONFIG_MBEDTLS_IRAM_8BIT_MEM_ALLOC=y\n",
};
const VARIANTS = ["sdkconfig.defaults", "sdkconfig.defaults.release", "sdkconfig.inst"];
/** Sizes of flash that there is a table of partitions for, in MB. */
export const FLASH_SIZES = [4, 8, 16] as const;
export type FlashSize = (typeof FLASH_SIZES)[number];

export interface BuildOptions extends Protection {
  readonly sdk: Sdk;
  /** With a manifest.json that includes ours. */
  readonly folder: string;
  /** As mcconfig names it: esp32, or esp32/NAME. */
  readonly target: string;
  readonly debug: boolean;
  /** Of the flash. */
  readonly megabytes: FlashSize;
  /** True: for the emulator, with Ethernet. "wifi": for an emulator that has Wi-Fi. */
  readonly emulated?: boolean | "wifi" | undefined;
  /** Takes the place of members of the manifest's config. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Where everything is written. */
  readonly out: string;
}

/** Where a build lies once mcconfig has been there. */
export interface Build {
  /** mc.xs.c, modules, the makefile. */
  readonly directory: string;
  readonly log: string;
}

/** Compiles everything except C, without ESP-IDF. Throws SdkError with the SDK's output. */
export async function buildScripts(given: BuildOptions): Promise<Build> {
  // In a folder of its own: what stands in for ESP-IDF's files must not be taken for them by a
  // build.
  const options = { ...given, out: join(given.out, "check") };
  const { sdk, out } = options;
  const { project } = prepare(options);
  const env = { ...environmentOf(sdk, options.folder), IDF_PATH: await idfForCheck(sdk, out) };
  const { directory, log: configuring } = await configure(options, project, env);
  let log = configuring;
  const configured = readdirSync(directory).find((name) => name.startsWith("xsProj-")) ?? "xsProj-esp32";
  // The makefile wants what only ESP-IDF makes, and takes it as it is.
  const header = join(directory, configured, "build", "config", "sdkconfig.h");
  mkdirSync(join(header, ".."), { recursive: true });
  writeFileSync(header, "");
  for (const product of ["mc.xs.c", "mc.resources.c"])
    log += await run(
      "make",
      ["-s", "-f", join(directory, "makefile"), "-o", header, join(directory, product)],
      project,
      env,
    );
  return { directory, log };
}

/** The parts of an image that ESP-IDF linked. */
export interface Image {
  readonly directory: string;
  /** ESP-IDF's output: xs_esp32.bin, .elf, .map, and flash_args with all offsets. */
  readonly folder: string;
  /** As ESP-IDF names it. */
  readonly chip: string;
}

/** Bytes of an image, and what its slot has. */
export function sizeOf({ folder }: Image): { bytes: number; room: number } {
  const partitions = readPartitions(readFileSync(join(folder, "..", "partitions.csv"), "utf8"));
  return { bytes: statSync(join(folder, "xs_esp32.bin")).size, room: imageRoom(partitions) };
}

/** Compiles and links the image; flashes nothing. Throws SdkError with the tool's output. */
export async function buildImage(options: BuildOptions): Promise<Image> {
  const { sdk, target, debug, out } = options;
  findIdf(sdk.env);
  const { project, settings } = prepare(options);
  const env = environmentOf(sdk, options.folder);
  const { directory } = await configure(options, project, env);
  const chip = chipOf(sdk, target);
  const wrong = checkConfig(directory, chip);
  if (wrong.length > 0)
    throw new SdkError(`The board would not start with its configuration: ${wrong.join("; ")}`);
  const made = join(directory, `xsProj-${chip.name}`);
  const folder = join(made, "build");
  // Left by a configure step that failed: the SDK's makefile would take it for configured.
  if (!existsSync(join(folder, "build.ninja"))) rmSync(folder, { recursive: true, force: true });
  wrapComponent(directory, made);
  // The SDK's makefile copies its own folder for the chip over `made` if that folder is newer. Its
  // partition table has no slots for updates.
  utimesSync(made, new Date(), new Date());
  // The configuration step alone, because it takes seconds and the rest minutes.
  const words = [...(debug ? ["-d"] : []), "-m", "-p", target, "-o", out, "-t"];
  for (const step of ["dependencies", join(folder, "config", "sdkconfig.h")])
    await run(sdk.mcconfig, [...words, step], project, env);
  const ignored = ignoredOptions(settings, read(join(made, "sdkconfig")) ?? "");
  if (ignored.length > 0)
    throw new SdkError(`ESP-IDF did not take these settings of the build: ${ignored.join("; ")}`);
  // The SDK's makefile goes on after a failed link: what was linked before must not pass for it.
  for (const name of LINKED) rmSync(join(folder, name), { force: true });
  // Its default target ends every serial2xsbug of this machine, and flashes.
  const log = await run(sdk.mcconfig, [...words, "build"], project, env);
  for (const name of PARTS)
    if (!existsSync(join(folder, name)))
      throw new SdkError(`ESP-IDF did not build ${basename(name)}:\n${lastLines(log)}`);
  if (read(join(made, TABLE)) !== read(join(out, "sdkconfig", TABLE)))
    throw new SdkError("The SDK replaced the partition table, so updates would fail. Build again.");
  return { directory, folder, chip: chip.name };
}

const TABLE = "partitions.csv";
const LINKED = ["xs_esp32.elf", "xs_esp32.bin"];
const PARTS = [
  "xs_esp32.bin",
  "bootloader/bootloader.bin",
  "partition_table/partition-table.bin",
  "flash_args",
];

/**
 * Writes the makefile. Throws SdkError for an invalid manifest or a private key in it, and
 * UsageError for a module that the board does not have.
 */
async function configure(
  { sdk, folder, target, debug, out }: BuildOptions,
  project: string,
  env: NodeJS.ProcessEnv,
): Promise<Build> {
  const log = await run(sdk.mcconfig, [...(debug ? ["-d"] : []), "-p", target, "-o", out], project, env);
  const directory = join(out, "tmp", target, debug ? "debug" : "release", basename(project));
  refusePrivateKeys(join(directory, "makefile"));
  // Before tsc, which would only advise to install the types of Node.
  if (mainIn(folder) !== undefined) await refuseMissingModules(sourceAt(folder), modulesIn(directory));
  return { directory, log };
}

/**
 * Wraps the project: its manifest, the given settings, and last the options of ESP-IDF. Returns the
 * folder, and our own options of ESP-IDF, which replace the target's.
 */
function prepare(options: BuildOptions): { project: string; settings: string } {
  const { sdk, folder, target, debug, config, out, megabytes, emulated } = options;
  const manifest = join(resolve(folder), "manifest.json");
  if (!existsSync(manifest))
    throw new SdkError(`${folder} has no manifest.json. Create a project: mote new.`);
  const project = join(out, "project", basename(resolve(folder)));
  forgetStale(options);
  const own = join(out, "sdkconfig");
  mkdirSync(own, { recursive: true });
  const theirs = targetOptions(sdk, target);
  const size = `CONFIG_ESPTOOLPY_FLASHSIZE_${megabytes}MB=y\n`;
  let settings = "";
  for (const name of VARIANTS) {
    const [a, b] = [theirs && read(join(theirs, name)), read(join(OURS, name))];
    const more =
      name === VARIANTS[0]
        ? size +
          (emulated ? (read(EMULATED_OPTIONS) ?? "") : "") +
          (emulated === "wifi" ? EMULATED_WIFI : "") +
          (CHIP_OPTIONS[chipOf(sdk, target).name] ?? "") +
          protectionOptions(options, chipOf(sdk, target).name)
        : "";
    if (name === VARIANTS[0] || !debug) settings += (b ?? "") + more;
    if (a !== undefined || b !== undefined) update(join(own, name), mergeOptions(a ?? "", (b ?? "") + more));
    else rmSync(join(own, name), { force: true });
  }
  mkdirSync(project, { recursive: true });
  const table = readFileSync(join(OURS, `partitions-${megabytes}mb.csv`), "utf8");
  const isProtected = options.encrypt !== undefined || options.secureBoot !== undefined;
  update(join(own, TABLE), isProtected ? secureTable(table) : table);
  write(join(own, "manifest.json"), {
    build: { SDKCONFIGPATH: "./", PARTITIONS_FILE: join(own, TABLE) },
  });
  const include = [manifest, ...(emulated === true ? [EMULATED] : []), join(own, "manifest.json")];
  write(join(project, "manifest.json"), { include, config });
  return { project, settings };
}

/**
 * The SDK goes by the age of files: modules of another project or with other settings must not
 * stay. What ESP-IDF made stays, as long as it was made for the same: it takes minutes.
 */
function forgetStale(options: BuildOptions): void {
  const { sdk, target, debug, megabytes, emulated = false, encrypt, secureBoot, out } = options;
  const temporary = join(out, "tmp");
  const stamp = join(out, "built-for.json");
  const { IDF_PATH = "" } = sdk.env;
  const now = JSON.stringify({
    ...{ target, debug, megabytes, emulated, encrypt, secureBoot },
    ...{ sdk: sdk.path, IDF_PATH },
  });
  if (read(stamp) !== now) rmSync(temporary, { recursive: true, force: true });
  else
    for (const name of existsSync(temporary)
      ? readdirSync(temporary, { recursive: true, encoding: "utf8" })
      : [])
      if (STALE.test(name)) rmSync(join(temporary, name), { recursive: true, force: true });
  makeBuildFolder(out);
  writeFileSync(stamp, now);
}

/** Of a build's folder: the modules, and what the SDK's tools wrote beside them. */
const STALE = /^(?!.*xsProj)[^/]+(?:\/[^/]+)*?\/(?:modules|mc\.[^/]+|makefile)$/;

/** The folder of the target's own options of ESP-IDF, if it has some. */
function targetOptions(sdk: Sdk, target: string): string | undefined {
  const directory = targetFolder(sdk, target);
  if (directory === undefined) return undefined;
  const text = readFileSync(join(directory, "manifest.json"), "utf8");
  const path: string | undefined = JSON.parse(text).build?.SDKCONFIGPATH;
  return path && resolve(directory, path.replace("$(MODDABLE)", sdk.path));
}

const read = (path: string): string | undefined =>
  existsSync(path) ? readFileSync(path, "utf8") : undefined;
/** Leaves a file that is as it should be: a younger one would have everything built again. */
const update = (path: string, text: string): void => {
  if (read(path) !== text) writeFileSync(path, text);
};
const write = (path: string, value: unknown): void => update(path, `${JSON.stringify(value, null, 2)}\n`);
