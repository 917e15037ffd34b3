// What can be said of an ESP32 build without a board and without ESP-IDF.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { engineBlock, planMemory, type Shares } from "../../../hosts/esp32/memory-plan.js";
import { number } from "../figures.js";
import { readRom, romBytes } from "../rom.js";
import type { Figures, Share } from "./check-figures.js";
import { chipOf } from "./chips.js";
import { checkConfig, usesPiu, warningsOf } from "./config-check.js";
import type { Build, BuildOptions } from "./esp32.js";
import { estimateImage } from "./image-estimate.js";
import { checkPartitions, imageRoom, readPartitions } from "./partitions.js";
import { checkOptions } from "./sdkconfig.js";

export interface Report {
  readonly wrong: readonly string[];
  /** What the owner should know, although the build is good. */
  readonly warnings: readonly string[];
  readonly figures: Figures;
}

const MEGABYTE = 1024 * 1024;
/** Why they stay out of ROM: they hold no objects, and are there only if somebody imports them. */
const OF_TYPINGS = /^(?:package|tsconfig\..*)$/;
const ALIASES = /: (?:not frozen|no const)$/gm;

export function checkBuild(
  { directory, log }: Build,
  { sdk, target, megabytes }: Pick<BuildOptions, "sdk" | "target" | "megabytes">,
): Report {
  const chip = chipOf(sdk, target);
  const rom = readRom(readFileSync(join(directory, "mc.xs.c"), "utf8"));
  const folder = readdirSync(directory).find((name) => name.startsWith("xsProj-")) ?? "";
  const partitions = readPartitions(readFileSync(join(directory, folder, "partitions.csv"), "utf8"));
  const options = readFileSync(join(directory, folder, "sdkconfig.mc"), "utf8");
  const left = rom.unpreloaded.filter(({ name }) => !OF_TYPINGS.test(name));
  const room = imageRoom(partitions);
  const image = estimateImage(rom, chip.name);
  const least = rom.engine === 0 ? undefined : rom.engine;
  const engine = least && engineBlock(least, chip.heap, chip.largest);
  const hasPiu = usesPiu(directory);
  const wrong = [
    ...checkConfig(directory, chip),
    ...checkPartitions(partitions, megabytes * MEGABYTE),
    ...(least !== undefined && least > chip.largest
      ? [
          `creation.static is ${number(least)} bytes: the largest piece of memory that an ${chip.name} has for it is ${number(chip.largest)} (${chip.origin})`,
        ]
      : []),
    ...(least !== undefined && rom.begins > least
      ? [
          `the engine begins with ${number(rom.begins)} bytes (creation.chunk.initial, heap.initial and stack): creation.static is ${number(least)}`,
        ]
      : []),
    ...(image > room ? [`the image takes about ${number(image)} bytes: a slot has ${number(room)}`] : []),
    ...checkOptions(options),
    ...left
      .filter(({ name }) => OURS.test(name) && !(name === MAIN && hasPiu))
      .map(({ name }) => `${name} is not preloaded`),
  ];
  const warnings = [
    ...warningsOf(directory),
    ...left
      .filter(({ name }) => name === MAIN && hasPiu)
      .map(({ bytes }) => `main is not preloaded, because it uses Piu: ${number(bytes)} bytes of it in RAM`),
  ];
  const planned = engine ?? engineBlock(chip.engine, chip.heap, chip.largest);
  const pool = chip.heap - planned;
  const plan = planMemory({ engine: planned, system: pool });
  const figures: Figures = {
    target,
    chip: chip.name,
    rom: { bytes: romBytes(rom), slots: rom.slots, keys: rom.keys, code: rom.code, texts: rom.texts },
    aliases: [...log.matchAll(ALIASES)].length,
    image: { bytes: image, room },
    memory: { engine: engine ?? null, largest: chip.largest, heap: chip.heap, origin: chip.origin },
    planned: { pool, engine: sharesOf(plan.engine), system: sharesOf(plan.system) },
    limits: plan.limits,
    unpreloaded: left.map(({ name, bytes }) => ({ name, bytes, reason: reasonOf(name) })),
  };
  return { wrong, warnings, figures };
}

const sharesOf = (shares: Shares): Share[] => shares.map(([what, bytes]) => ({ what, bytes }));

/** Of the SDK's modules: who might import them, and why they can stay out of ROM. */
const REASONS: Readonly<Record<string, string>> = {
  "commodetto/Bitmap": "of a target's screen; nothing here imports it",
  "embedded:provider/builtin": "of pins and buses; nothing here imports it",
};

const MAIN = "main";
const OURS = /^(?:main|mote(?:\/.*)?)$/;

const reasonOf = (name: string): string =>
  REASONS[name] ?? (OURS.test(name) ? "add it to preload in the manifest" : "no manifest preloads it");
