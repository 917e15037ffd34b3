// Finds programs to flash: builds of `mote esp32 --build`, or a folder of `mote flash --web`.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { type Part, partsOf } from "../esp32/flash-image.js";
import { SECURE_TABLE_OFFSET } from "../esp32/partitions.js";
import { SdkError } from "../sdk.js";
import { readImageHeader } from "./image-header.js";
import { endOf, readTable, TABLE_OFFSET, TABLE_OFFSETS } from "./partition-table.js";

/** One program for one chip. */
export interface Flashable {
  readonly name: string;
  readonly version: string;
  /** As ESP-IDF names it. */
  readonly chip: string;
  /** The target of a build; the folder's name of the chip otherwise. */
  readonly target: string;
  readonly parts: readonly Part[];
  /** Where ESP-IDF left its files: the names of functions for a crash. Of a build alone. */
  readonly folder?: string;
}

/** Of a folder of `mote flash --web`, as ESP Web Tools reads it. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly builds: readonly {
    readonly chipFamily: string;
    readonly parts: readonly { readonly path: string; readonly offset: number }[];
  }[];
}

/** All builds in `folder`, except for the emulator. Throws SdkError without any. */
export function findFirmware(folder: string): Flashable[] {
  const manifest = webManifest(folder);
  if (manifest) return ofWeb(folder, manifest);
  const builds = join(folder, "build");
  const found = existsSync(builds) ? readdirSync(builds).flatMap((name) => buildsIn(join(builds, name))) : [];
  if (found.length === 0)
    throw new SdkError(
      `${folder} contains no build for a board and is not a folder of mote flash --web. Build the project: mote esp32 --build --target esp32/NAME ${folder}`,
    );
  return found;
}

function webManifest(folder: string): Manifest | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
    const { name, version, builds } = manifest;
    const isManifest = Array.isArray(builds) && builds.length > 0 && typeof name === "string";
    return isManifest && typeof version === "string" ? manifest : undefined;
  } catch {
    return undefined;
  }
}

function ofWeb(folder: string, { name, version, builds }: Manifest): Flashable[] {
  return builds.map((build) => {
    const { chipFamily, parts } = (build ?? {}) as Partial<Manifest["builds"][number]>;
    const chip = String(chipFamily).toLowerCase().replaceAll("-", "");
    const files = [parts].flat().map((part) => {
      const { path, offset } = (part ?? {}) as { path: unknown; offset: unknown };
      const file = resolve(folder, String(path));
      if (!file.startsWith(resolve(folder) + sep) || !Number.isSafeInteger(offset) || (offset as number) < 0)
        throw new SdkError(`${join(folder, "manifest.json")} lists a part outside this folder`);
      return { offset: offset as number, file };
    });
    return { name, version, chip, target: chip, parts: files };
  });
}

/** What `mote esp32 --build` left in `out`. */
export function buildsIn(out: string): Flashable[] {
  const { target, debug, emulated } = readJson(join(out, "built-for.json")) as Record<string, unknown>;
  if (typeof target !== "string" || emulated === true) return [];
  const projects = join(out, "tmp", target, debug ? "debug" : "release");
  return folders(projects).flatMap((project) => {
    const directory = join(projects, project);
    const built = folders(directory).find((name) => name.startsWith("xsProj-"));
    const folder = join(directory, built ?? "", "build");
    if (built === undefined || !existsSync(join(folder, "xs_esp32.bin"))) return [];
    const chip = built.slice("xsProj-".length);
    const { config } = readJson(join(directory, "manifest_flat.json")) as {
      config?: { firmware?: object };
    };
    const { title = project, version = "0.0.0" } = (config?.firmware ?? {}) as {
      title?: string;
      version?: string;
    };
    return [{ name: title, version, chip, target, parts: partsOf({ directory, folder, chip }), folder }];
  });
}

const folders = (path: string): string[] => (existsSync(path) ? readdirSync(path) : []);

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

/** Throws SdkError listing all builds if there is none. */
export function ofTarget(found: readonly Flashable[], target: string | undefined): Flashable[] {
  const wanted = found.filter((one) => target === undefined || one.target === target);
  if (wanted.length > 0) return wanted;
  throw new SdkError(`no build for target ${target} (found: ${list(found)})`);
}

/** The build for `chip` and `target`. Throws SdkError listing all builds. */
export function choose(found: readonly Flashable[], chip: string, target: string | undefined): Flashable {
  const wanted = ofTarget(found, target);
  const fitting = wanted.filter((one) => one.chip === chip);
  const [first, second] = fitting;
  if (first === undefined)
    throw new SdkError(
      `the board is an ${chip}, but there are only builds for ${list(wanted)}: nothing was written. Build for this board: mote esp32 --build --target esp32/NAME`,
    );
  if (second !== undefined)
    throw new SdkError(`found several builds for an ${chip}: ${list(fitting)}; choose one with --target`);
  return first;
}

/** Where the partition tables have NVS. Throws SdkError where they have none, or differ. */
export function nvsOf(
  found: readonly Flashable[],
  target: string | undefined,
): { offset: number; size: number } {
  const places = ofTarget(found, target)
    .map(({ parts }) => parts.find(({ offset }) => offset === TABLE_OFFSET))
    .map((part) => part && existsSync(part.file) && readTable(readFileSync(part.file)))
    .map((entries) => (entries || []).find(({ label }) => label === "nvs"));
  const [first] = places;
  if (first === undefined)
    throw new SdkError(
      found.some(({ parts }) => parts.some(({ offset }) => offset === SECURE_TABLE_OFFSET))
        ? `the program was built with --encrypt or --secure-boot: Mote cannot prepare NVS for it (${list(found)}). Commission such a board over USB or on its setup page`
        : `no build has a partition table with NVS (found: ${list(found)})`,
    );
  if (places.some((one) => one?.offset !== first.offset || one.size !== first.size))
    throw new SdkError(
      `the builds have different partition tables: ${list(found)}; choose one with --target`,
    );
  return { offset: first.offset, size: first.size };
}

const list = (found: readonly Flashable[]): string =>
  [
    ...new Set(found.map(({ target, chip }) => (target.endsWith(chip) ? target : `${target} (${chip})`))),
  ].join(", ");

/**
 * The bytes of its parts, looked at as they are and not by their names. Throws SdkError for a part
 * that is missing, for another chip, or over another one, and for what a flash of `flashBytes` does
 * not hold.
 */
export function checkParts(firmware: Flashable, flashBytes: number | undefined): { bytes: number } {
  let needed = 0;
  let bytes = 0;
  let end = 0;
  for (const { offset, file } of [...firmware.parts].sort((a, b) => a.offset - b.offset)) {
    if (!existsSync(file) || !statSync(file).isFile())
      throw new SdkError(`${file} is missing: build the project again`);
    const part = readFileSync(file);
    const header = readImageHeader(part);
    if (header && header.chip !== firmware.chip)
      throw new SdkError(
        `${file} is for an ${header.chip}, the board is an ${firmware.chip}: nothing was written`,
      );
    if (offset < end) throw new SdkError(`${file} overlaps another part: nothing was written`);
    end = offset + part.length;
    bytes += part.length;
    needed = Math.max(
      needed,
      end,
      header?.flashBytes ?? 0,
      TABLE_OFFSETS.includes(offset) ? endOf(readTable(part)) : 0,
    );
  }
  if (flashBytes !== undefined && needed > flashBytes)
    throw new SdkError(
      `the program needs ${megabytes(needed)} of flash, the board has ${megabytes(flashBytes)}: nothing was written. Build for this size: mote esp32 --build --flash-size`,
    );
  return { bytes };
}

export const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1024 / 1024)} MB`;
