// What can be said of an ESP32 build without a board and without ESP-IDF.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Build } from "./esp32.js";
import { checkPartitions, imageRoom, readPartitions } from "./partitions.js";
import { codeBytes, readRom, romBytes } from "./rom.js";
import { checkOptions } from "./sdkconfig.js";

export interface Report {
  readonly wrong: readonly string[];
  readonly lines: readonly string[];
}

const FLASH_BYTES = 4 * 1024 * 1024;
/** Why they stay out of ROM: they hold no objects, and are there only if somebody imports them. */
const OF_TYPINGS = /^(?:package|tsconfig\..*)$/;
const ALIASES = /: (?:not frozen|no const)$/gm;

export function checkBuild({ directory, log }: Build): Report {
  const rom = readRom(readFileSync(join(directory, "mc.xs.c"), "utf8"));
  const folder = readdirSync(directory).find((name) => name.startsWith("xsProj-")) ?? "";
  const partitions = readPartitions(readFileSync(join(directory, folder, "partitions.csv"), "utf8"));
  const options = readFileSync(join(directory, folder, "sdkconfig.mc"), "utf8");
  const left = rom.unpreloaded.filter(({ name }) => !OF_TYPINGS.test(name));
  const wrong = [
    ...checkPartitions(partitions, FLASH_BYTES),
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
    `room for an image         ${number(imageRoom(partitions))} bytes`,
    `not preloaded             ${left.length === 0 ? "nothing" : "(bytes of code; in RAM from its first import on)"}`,
    ...left.map(({ name, bytes }) => `  ${name} (${number(bytes)}): ${reasonOf(name)}`),
    "bytes of code per module, with what it does once, those above 1,000:",
    ...modules(join(directory, "modules")),
  ];
  return { wrong, lines };
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

const number = (value: number): string => value.toLocaleString("en");
