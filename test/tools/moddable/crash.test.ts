// Addresses of a crash, by a toolchain's stand-in, and by a real one where the machine has it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { findElf, placesInLine, placesOf } from "../../../tools/moddable/esp32/addr2line.js";
import type { Image } from "../../../tools/moddable/esp32/esp32.js";
import { writeFlash } from "../../../tools/moddable/esp32/flash-image.js";
import { scratch, writeProgram } from "../scratch.js";
import { processEnds } from "../until.js";
import { elfHead, fakeToolchain } from "./toolchain.js";

const home = scratch();
const PATH = fakeToolchain(home);
const XTENSA = 94;

function elf(name: string, bytes = elfHead()): string {
  const path = join(home, name);
  writeFileSync(path, bytes);
  return path;
}

test("a backtrace is named by addr2line, and one of another build is not decoded", (t) => {
  const found = findElf(elf("trace.elf"), { PATH });
  const main = "0x42000008: main at app.c:7 (inlined by) loop at app.c:9";
  const inLine = (line: string): string[] => placesInLine(found, line, { PATH });
  t.deepEqual(inLine(`12.5 s error backtrace of ${found.build}: 0x42000018 0x42000008`), [
    "0x42000018: leaf at ??:?",
    main,
  ]);
  t.deepEqual(inLine("backtrace of 0123456789abcdef: 0x42000018"), [
    `not decoded: the backtrace is from another build (this one: ${found.build})`,
  ]);
  t.deepEqual(inLine("MEPC    : 0x42000008  RA      : 0x4200ffff"), [main, "0x4200ffff: ?? ??:0"]);
  const afterCall = "0x42000018: main at app.c:7 (inlined by) loop at app.c:9";
  t.deepEqual(inLine("backtrace: 0x42000018 0x42000018"), ["0x42000018: leaf at ??:?", afterCall]);
  t.deepEqual(placesOf({ ...found, isRiscv: false }, ["0x42000018", "0x42000018"], { PATH }), [
    "0x42000018: leaf at ??:?",
    "0x42000018: leaf at ??:?",
  ]);
  t.deepEqual(inLine("info: online 0x3fc90000 42000008"), []);
  t.deepEqual(placesOf(found, ["0x42000008"], { PATH }), [main]);
});

test("reports a foreign file or a missing toolchain with advice", (t) => {
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(100), elfHead(62)])
    t.throws(() => findElf(elf("wrong", bytes), { PATH }), {
      message: /is not an ELF file of a board/,
    });
  t.throws(() => findElf(elf("none.elf"), { PATH: "/nowhere" }), {
    message: "riscv32-esp-elf-addr2line is not on the path (run: . $IDF_PATH/export.sh)",
  });
  t.throws(() => findElf(elf("xtensa.elf", elfHead(XTENSA)), { PATH: "/nowhere" }), {
    message: /^xtensa-esp32-elf-addr2line/,
  });
});

// The emulator's command without an emulator: a program of its name stands for it, and says what it
// was asked.

const place = scratch();

function program(name: string, script: string): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(place, "bin-"));
  writeProgram(folder, name, `#!/bin/sh\n${script}\n`);
  return { PATH: `${folder}:${process.env.PATH}`, IDF_TOOLS_PATH: join(place, "none") };
}

test("an emulated board ends with its process, however that ends", async (t) => {
  const env = program("qemu-system-riscv32", "echo $$; exec sleep 60");
  const module = new URL("../../chip/emulator.js", import.meta.url).href;
  const code = `import { EmulatedBoard } from ${JSON.stringify(module)};
    new EmulatedBoard({ chip: "esp32c3", flash: "f", line(text) { console.log(text); throw new Error("on purpose"); } });`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  t.not(status, 0);
  const board = Number(stdout);
  t.true(board > 0);
  t.true(await processEnds(board));
});

function image(): Image {
  const folder = mkdtempSync(join(place, "image-"));
  writeFileSync(join(folder, "flash_args"), "--flash_mode dio\n0x0 boot.bin\n0x20000 xs_esp32.bin\n");
  writeFileSync(join(folder, "boot.bin"), "boot");
  writeFileSync(join(folder, "xs_esp32.bin"), "application");
  return { folder, directory: folder, chip: "esp32c3" };
}

test("a new flash is erased but for the program; an old one keeps what the device stored", (t) => {
  const made = image();
  const file = join(place, "flash.bin");
  writeFlash(made, file, 4);
  const flash = readFileSync(file);
  t.is(flash.length, 4 * 1024 * 1024);
  t.is(flash.toString("latin1", 0, 4), "boot");
  t.is(flash.toString("latin1", 0x20000, 0x20000 + 11), "application");
  t.is(flash[0x9000], 0xff);
  flash.write("token", 0x9000);
  writeFileSync(file, flash);
  writeFileSync(join(made.folder, "xs_esp32.bin"), "Application");
  writeFlash(made, file, 4);
  t.is(readFileSync(file).toString("latin1", 0x9000, 0x9005), "token");
  t.is(readFileSync(file).toString("latin1", 0x20000, 0x20000 + 11), "Application");
});
