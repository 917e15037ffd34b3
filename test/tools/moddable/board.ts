// A board that is none: a program that answers as esptool does, and builds with the heads of real
// images.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findFirmware } from "../../../tools/moddable/flash/firmware.js";
import { writeWebPage } from "../../../tools/moddable/flash/web-page.js";
import { scratch, writeProgram } from "../scratch.js";

const CHIP_IDS: Readonly<Record<string, number>> = { esp32: 0, esp32s3: 9, esp32c3: 5, esp32c6: 13 };
const MEGABYTE = 1024 * 1024;

/** As ESP-IDF writes it. */
export function imageFor(chip: string, megabytes = 4, bytes = 4096): Buffer {
  const image = Buffer.alloc(bytes, 0x5a);
  image[0] = 0xe9;
  image[3] = Math.log2(megabytes) << 4;
  image.writeUInt16LE(CHIP_IDS[chip] ?? 99, 12);
  return image;
}

export type Row = readonly [label: string, type: number, subtype: number, offset: number, size: number];

export const ROWS: readonly Row[] = [
  ["nvs", 1, 2, 0x9000, 0x6000],
  ["otadata", 1, 0, 0x10000, 0x2000],
  ["ota_0", 0, 0x10, 0x20000, 0x1d0000],
  ["ota_1", 0, 0x11, 0x1f0000, 0x1d0000],
  ["outbox", 1, 0x40, 0x3c0000, 0x40000],
];

export function tableOf(rows: readonly Row[]): Buffer {
  const table = Buffer.alloc(0xc00, 0xff);
  rows.forEach(([label, type, subtype, offset, size], index) => {
    const entry = Buffer.alloc(32);
    entry.writeUInt16LE(0x50aa, 0);
    entry.set([type, subtype], 2);
    entry.writeUInt32LE(offset, 4);
    entry.writeUInt32LE(size, 8);
    entry.write(label, 12, "latin1");
    entry.copy(table, index * 32);
  });
  // Its checksum, which is no row.
  table.set([0xeb, 0xeb], rows.length * 32);
  return table;
}

export interface Built {
  readonly chip: string;
  readonly megabytes?: number;
  readonly rows?: readonly Row[];
  readonly emulated?: boolean;
  /** The head of its application, where it is another's. */
  readonly application?: Buffer;
}

/** As ESP-IDF names them. */
export const BOOT = "bootloader/bootloader.bin";
export const TABLE = "partition_table/partition-table.bin";
const NAMES = [BOOT, TABLE, "ota_data_initial.bin", "xs_esp32.bin"] as const;

function partsFor({ chip, megabytes = 4, rows = ROWS, application }: Built): [number, string, Buffer][] {
  const boot = imageFor(chip, megabytes);
  const files = [boot, tableOf(rows), Buffer.alloc(0x2000, 0xff), application ?? imageFor(chip, megabytes)];
  const offsets = [chip === "esp32" ? 0x1000 : 0, 0x8000, 0x10000, 0x20000];
  return NAMES.map((name, index) => [offsets[index]!, name, files[index]!]);
}

/** As `mote esp32 --build` leaves it in `project`. Returns the folder of ESP-IDF's files. */
export function writeBuild(project: string, built: Built, target = `esp32/${built.chip}`): string {
  const out = join(project, "build", `${target.replace("/", "-")}${built.emulated ? "-emulated" : ""}`);
  const directory = join(out, "tmp", target, "release", "lamp");
  const folder = join(directory, `xsProj-${built.chip}`, "build");
  mkdirSync(folder, { recursive: true });
  const how = { target, debug: false, megabytes: built.megabytes ?? 4, emulated: built.emulated ?? false };
  writeFileSync(join(out, "built-for.json"), JSON.stringify(how));
  const config = { firmware: { title: "lamp", version: "1.2.0" } };
  writeFileSync(join(directory, "manifest_flat.json"), JSON.stringify({ config, modules: {} }));
  const parts = partsFor(built);
  for (const [, name, bytes] of parts) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), bytes);
  }
  const lines = parts.map(([offset, name]) => `0x${offset.toString(16)} ${name}`);
  writeFileSync(join(folder, "flash_args"), ["--flash-mode dio", ...lines].join("\n"));
  return folder;
}

/** As `mote flash --web` writes it. */
export function writeWeb(folder: string, builds: readonly Built[]): void {
  const project = scratch();
  for (const built of builds) writeBuild(project, built);
  writeWebPage(findFirmware(project), folder);
}

/** What the fake esptool plays. */
export interface EsptoolScript {
  readonly version?: string;
  readonly chip?: string;
  readonly flash?: string;
  /** What lies at 0x8000; none: erased. */
  readonly table?: string;
  /** A command of it, and what it says as it fails. */
  readonly fails?: readonly [command: string, text: string];
}

/**
 * Puts an `esptool` into `folder` that plays this, and notes its arguments in the file that is
 * returned.
 */
export function fakeEsptool(folder: string, played: EsptoolScript): string {
  const calls = join(folder, "calls.txt");
  writeFileSync(calls, "");
  writeFileSync(join(folder, "played.json"), JSON.stringify(played));
  const script = `(${play.toString()})(require("node:fs"), ${JSON.stringify(folder)});`;
  writeProgram(folder, "esptool", `#!${process.execPath}\n${script}\n`);
  return calls;
}

/** In a process of its own: it uses nothing from around it. */
function play(fs: typeof import("node:fs"), folder: string): void {
  const played = JSON.parse(fs.readFileSync(`${folder}/played.json`, "utf8")) as EsptoolScript;
  const args = process.argv.slice(2);
  fs.appendFileSync(`${folder}/calls.txt`, `${args.join(" ")}\n`);
  const { version = "5.6.0", chip = "ESP32-C3", flash = "4MB", fails } = played;
  const port = args[args.indexOf("--port") + 1];
  if (port && args.includes("--port") && !port.includes("://") && !fs.existsSync(port)) {
    console.log(`Could not open ${port}, the port is busy or doesn't exist.`);
    process.exit(2);
  }
  if (fails && args.includes(fails[0])) {
    console.log(fails[1]);
    process.exit(2);
  }
  if (args.includes("version")) console.log(`esptool v${version}\n${version}`);
  else {
    console.log(`esptool v${version}\nConnected to ${chip} on ${port}:\nChip type: ${chip}`);
    console.log(`MAC:                c4:0a:24:fe:10:01\n`);
  }
  if (args.includes("flash-id")) console.log(`Detected flash size: ${flash}`);
  if (args.includes("write-flash")) console.log("Hash of data verified.");
  if (args.includes("read-flash")) {
    const [offset, bytes, file] = args.slice(-3);
    const read =
      played.table && offset === "32768" ? fs.readFileSync(played.table) : Buffer.alloc(Number(bytes), 0xff);
    fs.writeFileSync(file!, read.subarray(0, Number(bytes)));
  }
}

/** As nvs_partition_gen is called; the image is the rows that it was given. */
export const NVS_TOOL = `#!/bin/sh
[ "$2" = esp_idf_nvs_partition_gen ] || exit 1
[ "$3" = --help ] && exit 0
cp "$4" "$5" && truncate -s $(($6)) "$5" && cat "$4"
`;

/** Puts a Python into `folder` that has this module alone. */
export const fakeNvsTool = (folder: string, program = NVS_TOOL): unknown =>
  writeProgram(folder, "python3", program);

export const FLASH_BYTES = 4 * MEGABYTE;
