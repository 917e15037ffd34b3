// What each chip has for the engine's memory, and how to know which chip a target of the SDK has.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Sdk, SdkError } from "../sdk.js";

/** Free heap of a chip at start, before the engine and Wi-Fi, in bytes. */
export interface Chip {
  /** As ESP-IDF names it. */
  readonly name: string;
  /** CONFIG_IDF_FIRMWARE_CHIP_ID. */
  readonly id: number;
  /** Free in all. */
  readonly heap: number;
  /** The largest piece: the engine's memory is one piece. */
  readonly largest: number;
  /** `creation.static` of the manifests: the least that its block has. */
  readonly engine: number;
  /** Address at which the heap begins in the image that was measured; another image moves it. */
  readonly heapStart?: number;
  /** "measured" on the chip (here: on its emulator), or "computed" from ESP-IDF's memory map. */
  readonly origin: "measured" | "computed";
  /** Where the figures come from. */
  readonly source: string;
  readonly cores: 1 | 2;
}

const LAYOUT = "components/heap/port/*/memory_layout.c of ESP-IDF v6.0";
/** Static memory and ESP-IDF's use before the engine, as linked for the C3. */
const COMPUTED = `${LAYOUT}, less the static memory of the C3's image and 22 KiB that ESP-IDF takes before the engine`;

export const CHIPS: readonly Chip[] = [
  {
    name: "esp32",
    id: 0,
    heap: 261_000,
    largest: 126_000,
    engine: 118_784,
    origin: "computed",
    source: `${COMPUTED}; data at 0x3FFB0000 to 0x3FFE0000, and 113,840 bytes from 0x3FFE4350`,
    cores: 2,
  },
  {
    name: "esp32s2",
    id: 2,
    heap: 150_000,
    largest: 126_000,
    engine: 114_688,
    origin: "computed",
    source: `${COMPUTED}; one region up to 0x3FFFE70C`,
    cores: 1,
  },
  {
    name: "esp32s3",
    id: 9,
    heap: 290_000,
    largest: 253_000,
    engine: 139_264,
    origin: "computed",
    source: `${COMPUTED}; one region from 0x3FC88000 to 0x3FCE9710`,
    cores: 2,
  },
  {
    name: "esp32c3",
    id: 5,
    heap: 295_764,
    largest: 155_648,
    heapStart: 0x3fc91680,
    engine: 114_688,
    origin: "measured",
    source: "heap_caps_* on the emulated chip, in the sample's image with Wi-Fi, before the engine",
    cores: 1,
  },
  {
    name: "esp32c6",
    id: 13,
    heap: 378_000,
    largest: 362_000,
    engine: 139_264,
    origin: "computed",
    source: `${COMPUTED}; one region from 0x40800000 to 0x4087C610`,
    cores: 1,
  },
];

const TARGET = /^esp32(?:\/(\w+))?$/;
const WITHOUT_WIFI = ["esp32h2"];

/** The target's folder in the SDK; undefined for "esp32". Throws SdkError for an unknown target. */
export function targetFolder(sdk: Pick<Sdk, "path">, target: string): string | undefined {
  const [known, name] = TARGET.exec(target) ?? [];
  if (known === undefined) throw new SdkError(`unknown target ${target}: expected esp32 or esp32/NAME.`);
  if (name === undefined) return undefined;
  const folder = join(sdk.path, "build", "devices", "esp32", "targets", name);
  if (!existsSync(join(folder, "manifest.json"))) throw new SdkError(`the SDK has no target ${target}.`);
  return folder;
}

/** The chip of `target`. Throws SdkError for an unknown target and for a chip without Wi-Fi. */
export function chipOf(sdk: Pick<Sdk, "path">, target: string): Chip {
  const folder = targetFolder(sdk, target);
  const name = folder === undefined ? "esp32" : subclassOf(folder);
  const chip = CHIPS.find((known) => known.name === name);
  if (chip) return chip;
  if (WITHOUT_WIFI.includes(name)) throw new SdkError(`${target} has a chip without Wi-Fi (${name}).`);
  throw new SdkError(`${target} has an unsupported chip: ${name}.`);
}

/** The target of a chip on its own, as mcconfig names it. */
export const plainTarget = (chip: string): string => (chip === "esp32" ? chip : `esp32/${chip}`);

/** Every target that the SDK has for a chip of the table, as mcconfig names it. */
export function targetsOf(sdk: Pick<Sdk, "path">, chip: string): string[] {
  const folder = join(sdk.path, "build", "devices", "esp32", "targets");
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "manifest.json")))
    .filter((name) => subclassOf(join(folder, name)) === chip)
    .map((name) => `esp32/${name}`)
    .sort();
}

/** Targets say it in their manifest, or in one that they include. */
function subclassOf(folder: string): string {
  const { build, include } = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  if (build?.ESP32_SUBCLASS) return build.ESP32_SUBCLASS;
  for (const path of [include ?? []].flat() as string[]) {
    const [, sibling] =
      /targets\/(\w+)\/manifest\.json$/.exec(path) ?? /^\.\.\/(\w+)\/manifest\.json$/.exec(path) ?? [];
    if (sibling) return subclassOf(join(folder, "..", sibling));
  }
  return "esp32";
}
