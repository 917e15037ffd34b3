// A folder that a web page flashes a board from: what ESP Web Tools reads (esphome.github.io/esp-web-tools).
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { SdkError } from "../sdk.js";
import type { Image } from "./esp32.js";
import { partsOf } from "./flash-image.js";
import { type Firmware, isManifest, type Manifest } from "./web-manifest.js";

/** What is for the page alone. */
const OF_PAGE = {
  /** Asked of the owner: without it NVS and the outbox stay, with token and points in them. */
  new_install_prompt_erase: true,
  /** Seconds that the page waits for Improv: a board is there in three. */
  new_install_improv_wait_time: 15,
} as const;
const MANIFEST = "manifest.json";

/**
 * Writes the parts of `image`, each for itself, as a merged file would go over what the device stored, and a manifest that names them. Chips that
 * `directory` has of the same firmware and version stay beside it. Returns the chips that are there now. Throws SdkError if its manifest is none.
 */
export function writeWebInstall(image: Image, { name, version }: Firmware, directory: string): string[] {
  const chipFamily = familyOf(image.chip);
  const before = read(directory);
  mkdirSync(join(directory, image.chip), { recursive: true });
  const parts = partsOf(image).map(({ offset, file }) => {
    const path = `${image.chip}/${basename(file)}`;
    cpSync(file, join(directory, path));
    return { path, offset };
  });
  const others = before?.name === name && before.version === version ? before.builds : [];
  const builds = [...others.filter((build) => build.chipFamily !== chipFamily), { chipFamily, parts }];
  const manifest: Manifest = { name, version, ...OF_PAGE, builds };
  writeFileSync(join(directory, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  return builds.map((build) => build.chipFamily);
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
  if (variant === undefined) throw new SdkError(`${chip} is no chip that a page can flash`);
  return variant === "" ? "ESP32" : `ESP32-${variant.toUpperCase()}`;
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
  throw new SdkError(`${file} is no manifest of ESP Web Tools: choose another folder, or remove it`);
}
