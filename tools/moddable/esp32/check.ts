// What can be said of an ESP32 build without a board and without ESP-IDF.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { planMemory, type Shares } from "../../../hosts/esp32/memory-plan.js";
import { number, share } from "../figures.js";
import { codeBytes, readRom, romBytes } from "../rom.js";
import { chipOf } from "./chips.js";
import { checkConfig } from "./config-check.js";
import type { Build, BuildOptions } from "./esp32.js";
import { estimateImage } from "./image-estimate.js";
import { checkPartitions, imageRoom, readPartitions } from "./partitions.js";
import { checkOptions } from "./sdkconfig.js";

export interface Report {
  readonly wrong: readonly string[];
  readonly lines: readonly string[];
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
  const image = estimateImage(rom);
  const engine = rom.engine === 0 ? undefined : rom.engine;
  const wrong = [
    ...checkConfig(directory, chip),
    ...checkPartitions(partitions, megabytes * MEGABYTE),
    ...(engine !== undefined && engine > chip.largest
      ? [
          `creation.static is ${number(engine)} bytes: the largest piece of memory that an ${chip.name} has for it is ${number(chip.largest)} (${chip.origin})`,
        ]
      : []),
    ...(image > room ? [`the image takes about ${number(image)} bytes: a slot has ${number(room)}`] : []),
    ...checkOptions(options),
    ...left.filter(({ name }) => OURS.test(name)).map(({ name }) => `${name} is not preloaded`),
  ];
  const lines = [
    `ROM of the engine's data  ${number(romBytes(rom))} bytes`,
    `  slots                   ${number(rom.slots)} of 16 bytes`,
    `  keys                    ${number(rom.keys)}`,
    `  code                    ${number(rom.code)} bytes`,
    `  texts                   ${number(rom.texts)} bytes`,
    `aliases in RAM            ${number([...log.matchAll(ALIASES)].length)} of 4 bytes: what is preloaded and not frozen may be changed`,
    `image, estimated          ${number(image)} bytes of a slot's ${number(room)}: ${share(room - image, room)} free`,
    `engine's memory           ${engine === undefined ? "no block of its own" : `${number(engine)} bytes`} of ${number(chip.largest)} in one piece, ${number(chip.heap)} in all (${chip.name}, ${chip.origin})`,
    ...memoryPlan(engine ?? chip.engine, chip.heap),
    `not preloaded             ${left.length === 0 ? "nothing" : "(bytes of code; in RAM from its first import on)"}`,
    ...left.map(({ name, bytes }) => `  ${name} (${number(bytes)}): ${reasonOf(name)}`),
    "bytes of code per module, with what it does once, those above 1,000:",
    ...modules(join(directory, "modules")),
  ];
  return { wrong, lines };
}

/** Both pools, and the limits that a configuration has which names none. */
function memoryPlan(engine: number, heap: number): string[] {
  const plan = planMemory({ engine, system: heap - engine });
  const { requestBytes, answerBytes, attributeBytes, connections } = plan.limits;
  const list = (shares: Shares): string[] =>
    shares.map(([what, bytes]) => `  ${what.padEnd(32)}${number(bytes).padStart(9)}`);
  return [
    "of the engine's memory, planned for",
    ...list(plan.engine),
    `of the system's ${number(heap - engine)} bytes, planned for`,
    ...list(plan.system),
    `so an RPC takes ${number(requestBytes)} bytes, its answer ${number(answerBytes)}, shared attributes ${number(attributeBytes)}; ${connections} connections`,
  ];
}

/** Of the SDK's modules: who might import them, and why they can stay out of ROM. */
const REASONS: Readonly<Record<string, string>> = {
  "commodetto/Bitmap": "of a target's screen; nothing here imports it",
  "embedded:provider/builtin": "of pins and buses; nothing here imports it",
};

const OURS = /^(?:main|mote(?:\/.*)?)$/;

const reasonOf = (name: string): string =>
  REASONS[name] ??
  (OURS.test(name) ? "must be: see preload in the manifest" : "not in any manifest's preload");

function modules(directory: string): string[] {
  const sizes = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".xsb"))
    .map((name) => ({
      name: relative(".", name).replace(/\.xsb$/, ""),
      bytes: codeBytes(readFileSync(join(directory, name))) ?? 0,
    }))
    .filter(({ bytes }) => bytes > 1000)
    .sort((a, b) => b.bytes - a.bytes);
  return sizes.map(({ name, bytes }) => `  ${name.padEnd(24)}${number(bytes)}`);
}
