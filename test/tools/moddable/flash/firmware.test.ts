// What is flashed, and what is refused before anything is written.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { readIdentity, whyNot } from "../../../../tools/moddable/flash/esptool.js";
import { checkParts, choose, findFirmware } from "../../../../tools/moddable/flash/firmware.js";
import { readImageHeader } from "../../../../tools/moddable/flash/image-header.js";
import {
  changesBetween,
  endOf,
  isErased,
  readTable,
} from "../../../../tools/moddable/flash/partition-table.js";
import { SdkError } from "../../../../tools/moddable/sdk.js";
import { FLASH_BYTES, imageFor, ROWS, tableOf, writeBuild, writeWeb } from "./board.js";

const home = mkdtempSync(join(tmpdir(), "mote-flash-"));
test.after.always(() => rmSync(home, { recursive: true, force: true }));

let folders = 0;
function folder(): string {
  const path = join(home, `${folders++}`);
  mkdirSync(path);
  return path;
}

test("a build and a folder for a web page have the same parts, and a build for the emulator is none", (t) => {
  const [project, web] = [folder(), folder()];
  const built = writeBuild(project, { chip: "esp32c3" });
  writeBuild(project, { chip: "esp32c3", emulated: true });
  writeWeb(web, [{ chip: "esp32c3" }, { chip: "esp32" }]);
  const [ofBuild, ...none] = findFirmware(project);
  const [ofWeb, classic] = findFirmware(web);
  t.deepEqual(none, []);
  t.like(ofBuild, {
    name: "lamp",
    version: "1.2.0",
    chip: "esp32c3",
    target: "esp32/esp32c3",
    folder: built,
  });
  t.like(ofWeb, { name: "lamp", version: "1.2.0", chip: "esp32c3", folder: undefined });
  const offsets = (parts: readonly { offset: number }[] = []) => parts.map(({ offset }) => offset);
  t.deepEqual(offsets(ofBuild?.parts), [0, 0x8000, 0x10000, 0x20000]);
  t.deepEqual(offsets(ofWeb?.parts), offsets(ofBuild?.parts));
  t.deepEqual(offsets(classic?.parts), [0x1000, 0x8000, 0x10000, 0x20000]);
  for (const one of [ofBuild, ofWeb])
    t.deepEqual(checkParts(one!, FLASH_BYTES), { bytes: 4096 * 2 + 0xc00 + 0x2000 });
});

test("a folder with nothing to flash says what builds it", (t) => {
  const project = folder();
  t.throws(() => findFirmware(project), { instanceOf: SdkError, message: /mote esp32 --build/ });
  writeBuild(project, { chip: "esp32c3", emulated: true });
  t.throws(() => findFirmware(project), { instanceOf: SdkError });
});

test("a manifest names files of its folder alone, at places that are some", (t) => {
  const web = folder();
  for (const part of [
    { path: "../secret.bin", offset: 0 },
    { path: "/etc/passwd", offset: 0 },
    { path: "a.bin", offset: -1 },
    { path: "a.bin", offset: "0x0" },
    { path: "a.bin" },
    null,
  ]) {
    const builds = [{ chipFamily: "ESP32-C3", parts: [part] }];
    writeFileSync(join(web, "manifest.json"), JSON.stringify({ name: "a", version: "1", builds }));
    t.throws(() => findFirmware(web), { instanceOf: SdkError, message: /none of this folder/ });
  }
});

test("the board's chip chooses the build, and --target among several", (t) => {
  const project = folder();
  writeBuild(project, { chip: "esp32c3" });
  const one = findFirmware(project);
  t.is(choose(one, "esp32c3", undefined).chip, "esp32c3");
  t.throws(() => choose(one, "esp32", undefined), {
    message: /is an esp32, .*esp32\/esp32c3 alone: nothing was/,
  });
  t.throws(() => choose(one, "esp32c3", "esp32/x"), { message: /no build of esp32\/x: esp32\/esp32c3/ });
  writeBuild(project, { chip: "esp32c3" }, "esp32/c3_devkit_rust");
  const two = findFirmware(project);
  t.throws(() => choose(two, "esp32c3", undefined), { message: /several.*--target/s });
  t.is(choose(two, "esp32c3", "esp32/c3_devkit_rust").target, "esp32/c3_devkit_rust");
});

test("an image of another chip, a part that is missing, and a flash that is too small are refused by what the files are", (t) => {
  const wrong = (
    built: Parameters<typeof writeBuild>[1],
    flash: number | undefined,
    message: RegExp,
  ): void => {
    const project = folder();
    writeBuild(project, built);
    t.throws(() => checkParts(findFirmware(project)[0]!, flash), { instanceOf: SdkError, message });
  };
  wrong({ chip: "esp32c3", application: imageFor("esp32c6") }, FLASH_BYTES, /for an esp32c6.*an esp32c3/);
  wrong({ chip: "esp32c3", megabytes: 8 }, FLASH_BYTES, /for a flash of 8 MB, the board has 4 MB/);
  wrong(
    { chip: "esp32c3", rows: [...ROWS, ["more", 1, 2, 0x400000, 0x1000]] },
    FLASH_BYTES,
    /5 MB, the board has 4/,
  );
  wrong({ chip: "esp32c3", application: imageFor("esp32c3", 4, FLASH_BYTES) }, FLASH_BYTES, /5 MB/);
  const project = folder();
  const built = writeBuild(project, { chip: "esp32c3", megabytes: 8 });
  t.notThrows(() => checkParts(findFirmware(project)[0]!, undefined));
  rmSync(join(built, "xs_esp32.bin"));
  t.deepEqual(t.throws(() => findFirmware(project))?.name, "SdkError");
});

test("a part that lies over another is refused", (t) => {
  const project = folder();
  writeBuild(project, { chip: "esp32c3", application: imageFor("esp32c3") });
  const [program] = findFirmware(project);
  const parts = program!.parts.map((part) => (part.offset === 0x8000 ? { ...part, offset: 0x800 } : part));
  t.throws(() => checkParts({ ...program!, parts }, FLASH_BYTES), { message: /where another part lies/ });
});

test("tables are the same, or named by what moved", (t) => {
  const table = tableOf(ROWS);
  t.deepEqual(
    readTable(table).map(({ label }) => label),
    ["nvs", "otadata", "ota_0", "ota_1", "outbox"],
  );
  t.is(endOf(readTable(table)), 0x3e0000);
  t.deepEqual(changesBetween(readTable(table), readTable(tableOf(ROWS))), []);
  const moved: typeof ROWS = [
    ["nvs", 1, 2, 0x9000, 0x5000],
    ...ROWS.slice(1, 4),
    ["outbox", 1, 0x41, 0x3a0000, 0x40000],
  ];
  t.deepEqual(changesBetween(readTable(tableOf(moved.slice(0, 4))), readTable(table)), [
    "nvs: 0x9000, 0x5000 bytes -> 0x9000, 0x6000 bytes",
    "outbox: none -> 0x3a0000, 0x40000 bytes",
  ]);
  t.is(changesBetween(readTable(tableOf(moved)), readTable(table)).length, 2);
  t.true(isErased(Buffer.alloc(0xc00, 0xff)));
  t.false(isErased(table));
  t.deepEqual(readTable(Buffer.alloc(5)), []);
  t.deepEqual(readTable(Buffer.alloc(0xc00, 0xff)), []);
});

test("the head of an image says its chip and flash; what is none has none", (t) => {
  t.deepEqual(readImageHeader(imageFor("esp32s3", 16)), { chip: "esp32s3", flashBytes: 4 * FLASH_BYTES });
  t.deepEqual(readImageHeader(imageFor("unheard-of")), { chip: "chip 99", flashBytes: FLASH_BYTES });
  t.is(readImageHeader(tableOf(ROWS)), undefined);
  t.is(readImageHeader(Buffer.from([0xe9])), undefined);
});

// As esptool 5.6.0 printed it for an emulated chip.
const SAID = `esptool v5.6.0
Serial port socket://localhost:5577:
Connecting...
Detecting chip type... ESP32-C3
Connected to ESP32-C3 on socket://localhost:5577:
Chip type:          ESP32-C3 (QFN32) (revision v0.3)
MAC:                c4:0a:24:fe:10:01

Flash Memory Information:
=========================
Manufacturer: c8
Device: 4016
Detected flash size: 4MB
`;

test("a board is what flash-id says, and what is in the way is said with the way on", (t) => {
  t.deepEqual(readIdentity(SAID), { chip: "esp32c3", mac: "c4:0a:24:fe:10:01", flashBytes: FLASH_BYTES });
  t.is(readIdentity(SAID.replaceAll("ESP32-C3", "ESP32"))?.chip, "esp32");
  t.is(readIdentity(SAID.replace("4MB", "Unknown"))?.flashBytes, undefined);
  t.is(readIdentity(SAID.replace("4MB", "512KB"))?.flashBytes, 512 * 1024);
  t.is(readIdentity("esptool v5.6.0\n"), undefined);
  for (const [text, said] of [
    [
      "Could not open /dev/ttyUSB0, the port is busy or doesn't exist.\n([Errno 13] Permission denied)",
      /dialout/,
    ],
    ["Could not open /dev/ttyUSB0, the port is busy or doesn't exist.", /another program has it/],
    ["Failed to connect to ESP32-C3: No serial data received.", /Hold BOOT/],
    ["A serial exception error occurred: x", /could not speak.*\nA serial exception/],
  ] as const)
    t.regex(whyNot("/dev/ttyUSB0", text).message, said);
});
