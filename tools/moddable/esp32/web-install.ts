// Writes the folder that ESP Web Tools flashes a board from (esphome.github.io/esp-web-tools).
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { SdkError } from "../sdk.js";
import type { Image } from "./esp32.js";
import { partsOf } from "./flash-image.js";
import { type Firmware, isManifest, type Manifest, type Tables, versionsToErase } from "./web-manifest.js";

/** What is for the page alone. */
const OF_PAGE = {
  /** Asked of the owner: without it NVS and the outbox stay, with token and points in them. */
  new_install_prompt_erase: true,
  /** Seconds that the page waits for Improv: a board is there in three. */
  new_install_improv_wait_time: 15,
} as const;
const MANIFEST = "manifest.json";
/** Enough to tell tables apart. */
const DIGITS = 16;

export interface Written {
  /** That are there now. */
  readonly chips: readonly string[];
  /** Versions whose boards must be erased, as they have another partition table. */
  readonly erased: readonly string[];
}

/**
 * Writes the parts of `image`, each for itself, as a merged file would go over what the device
 * stored, and a manifest that names them. Chips that `directory` has of the same firmware and
 * version stay beside it. Throws SdkError if its manifest is none.
 */
export function writeWebInstall(image: Image, { name, version }: Firmware, directory: string): Written {
  const chipFamily = familyOf(image.chip);
  const found = read(directory);
  const before = found?.name === name ? found : undefined;
  const folder = join(directory, image.chip);
  const tables = withVersion(before, chipFamily, before?.version, tableIn(folder));
  mkdirSync(folder, { recursive: true });
  const parts = partsOf(image).map(({ offset, file }) => {
    const path = `${image.chip}/${basename(file)}`;
    cpSync(file, join(directory, path));
    return { path, offset };
  });
  const partition_table = tableIn(folder);
  const others = before?.version === version ? before.builds : [];
  const builds = [
    ...others.filter((build) => build.chipFamily !== chipFamily),
    { chipFamily, parts, ...(partition_table !== undefined && { partition_table }) },
  ];
  const partition_tables = withVersion(
    { builds, partition_tables: tables },
    chipFamily,
    version,
    partition_table,
  );
  const wanted: Manifest = { name, version, ...OF_PAGE, builds, partition_tables };
  const erased = versionsToErase(wanted);
  // Then an installation erases unasked, and an update does not; which of them a board gets is for
  // our page to say.
  const manifest = erased.length === 0 ? wanted : { ...wanted, new_install_prompt_erase: false };
  writeFileSync(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  return { chips: builds.map((build) => build.chipFamily), erased };
}

/** Which tables had which versions, with one more of a chip that is among the builds. */
function withVersion(
  manifest: Pick<Manifest, "builds" | "partition_tables"> | undefined,
  chip: string,
  version: string | undefined,
  table: string | undefined,
): Tables {
  const tables = manifest?.partition_tables ?? {};
  if (version === undefined || table === undefined) return tables;
  // What else lies there is of an earlier version, which noted it itself.
  if (!manifest?.builds.some(({ chipFamily }) => chipFamily === chip)) return tables;
  const versions = new Set(tables[chip]?.[table]).add(version);
  return { ...tables, [chip]: { ...tables[chip], [table]: [...versions] } };
}

/** By the manifest of the project in `folder`. */
export function firmwareOf(folder: string): Firmware {
  const { config } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const { title = basename(resolve(folder)), version = "0.0.0" } = config?.firmware ?? {};
  return { name: String(title), version: String(version) };
}

/** As ESP Web Tools writes it: esp32c3 is ESP32-C3. */
export function familyOf(chip: string): string {
  const [, variant] = /^esp32(\w*)$/.exec(chip) ?? [];
  if (variant === undefined) throw new SdkError(`a web page cannot flash ${chip}`);
  return variant === "" ? "ESP32" : `ESP32-${variant.toUpperCase()}`;
}

/** Of a chip's part in such a folder. */
function tableIn(folder: string): string | undefined {
  const file = join(folder, "partition-table.bin");
  if (!existsSync(file)) return undefined;
  return createHash("sha256").update(readFileSync(file)).digest("hex").slice(0, DIGITS);
}

function read(directory: string): Manifest | undefined {
  const file = join(directory, MANIFEST);
  if (!existsSync(file)) return undefined;
  try {
    const manifest: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (isManifest(manifest)) return manifest;
  } catch {
    // As below.
  }
  throw new SdkError(`${file} is not an ESP Web Tools manifest: choose another folder, or remove the file`);
}
