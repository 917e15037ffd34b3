// The emulator's command without an emulator: a program of its name stands for it, and says what it was asked.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { EmulatedBoard, findEmulator, fromInside } from "../../../tools/moddable/esp32/emulator.js";
import type { Image } from "../../../tools/moddable/esp32/esp32.js";
import { partsOf, writeFlash } from "../../../tools/moddable/esp32/flash-image.js";
import { decoder } from "../../../tools/moddable/esp32/symbolizer.js";
import { elfHead } from "./toolchain.js";

const place = mkdtempSync(join(tmpdir(), "mote-emulator-"));
test.after.always(() => rmSync(place, { recursive: true, force: true }));

function program(name: string, script: string): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(place, "bin-"));
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
  return { PATH: `${folder}:${process.env.PATH}`, IDF_TOOLS_PATH: join(place, "none") };
}

test("a platform on this machine is at another address for an emulated board", (t) => {
  t.is(fromInside("http://127.0.0.1:8080"), "http://10.0.2.2:8080");
  t.is(fromInside("https://localhost:8443/x"), "https://10.0.2.2:8443/x");
  t.is(fromInside("https://platform.example.com"), "https://platform.example.com");
});

test("a missing emulator is named with the command that installs it", (t) => {
  const env = { PATH: place, IDF_TOOLS_PATH: join(place, "none") };
  t.throws(() => findEmulator("esp32c3", env), {
    message: /qemu-system-riscv32[\s\S]*idf_tools\.py install qemu-riscv32/,
  });
  t.throws(() => findEmulator("esp32", env), { message: /idf_tools\.py install qemu-xtensa/ });
  t.throws(() => findEmulator("esp32c6", env), {
    message: /esp32c6 can't be emulated: esp32, esp32s3, esp32c3 can/,
  });
});

test("an emulator that ESP-IDF installed is found though it is not on the path", (t) => {
  const tools = mkdtempSync(join(place, "tools-"));
  for (const [chip, tool] of [
    ["esp32c3", "riscv32"],
    ["esp32", "xtensa"],
  ] as const) {
    const folder = join(tools, "tools", `qemu-${tool}`, "esp_develop_9.2.2", "qemu", "bin");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `qemu-system-${tool}`), "");
    const found = findEmulator(chip, { PATH: place, IDF_TOOLS_PATH: tools });
    t.is(found, join(folder, `qemu-system-${tool}`));
  }
});

test("a board does not outlive who runs it, however that ends", async (t) => {
  const env = program("qemu-system-riscv32", "echo $$; exec sleep 60");
  const module = new URL("../../../tools/moddable/esp32/emulator.js", import.meta.url).href;
  const code = `import { EmulatedBoard } from ${JSON.stringify(module)};
    new EmulatedBoard({ chip: "esp32c3", flash: "f", line(text) { console.log(text); throw new Error("on purpose"); } });`;
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
    env: { ...process.env, ...env },
    encoding: "utf8",
  });
  t.not(status, 0);
  const board = Number(stdout);
  const isGone = (): boolean => {
    try {
      // A zombie that nobody has waited for yet is gone too.
      return readFileSync(`/proc/${board}/stat`, "utf8").includes(") Z ");
    } catch {
      return true;
    }
  };
  t.true(board > 0);
  for (let looks = 0; !isGone() && looks < 3000; looks++) await new Promise((go) => setTimeout(go, 20));
  t.true(isGone());
});

test("a board runs on its flash, its console comes line by line, and its power can be cut", async (t) => {
  const env = program("qemu-system-riscv32", 'echo "$@"; printf "half a "; echo line; exec sleep 60');
  const lines: string[] = [];
  const seen = new Promise<void>((resolve) => {
    const board = new EmulatedBoard({
      chip: "esp32c3",
      flash: "/x/flash.bin",
      env,
      line: (text) => {
        lines.push(text);
        if (lines.length === 2) void board.cut().then(resolve);
      },
    });
  });
  await seen;
  t.regex(lines[0] ?? "", /-machine esp32c3 .*file=\/x\/flash\.bin,if=mtd,format=raw.*model=open_eth/);
  t.is(lines[1], "half a line");
});

test("an emulator that ends by itself says why", async (t) => {
  const env = program("qemu-system-riscv32", "echo no such machine >&2; exit 1");
  const board = new EmulatedBoard({ chip: "esp32c3", flash: "x", env, line: () => {} });
  t.is(await board.off, "no such machine");
  t.is(board.failure, "it ended with 1");
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

test("parts that are named nowhere are an error with the file's name", (t) => {
  const made = image();
  writeFileSync(join(made.folder, "flash_args"), "--flash_mode dio\n");
  t.throws(() => partsOf(made), { message: /flash_args names no parts/ });
});

test("the backtrace of an Xtensa chip becomes functions: its code, not its stack", (t) => {
  const env = program("xtensa-esp32-elf-addr2line", 'shift 3; for a in "$@"; do echo "$a: f at f.c:1"; done');
  const made = image();
  const XTENSA = 94;
  const head = elfHead();
  head.writeUInt16LE(XTENSA, 18);
  writeFileSync(join(made.folder, "xs_esp32.elf"), head);
  const decode = decoder({ ...made, chip: "esp32" }, env);
  t.deepEqual(decode("Backtrace: 0x400d1234:0x3ffb5e20 0x40081234:0x3ffb5e40 |<-CORRUPTED"), [
    "0x400d1234  f at f.c:1",
    "0x40081234  f at f.c:1",
  ]);
  t.deepEqual(decode("PC      : 0x400d1234  PS      : 0x00060030  A0      : 0x800d5678"), [
    "0x400d1234  f at f.c:1",
  ]);
});

test("the addresses of a crash become functions, and only those", (t) => {
  const env = program(
    "riscv32-esp-elf-addr2line",
    'for a in "$@"; do case $a in 0x42*) echo "$a: fxRunID at xsRun.c:12";; 0x40*) echo "$a: ?? ??:0";; esac; done',
  );
  const made = image();
  t.deepEqual(decoder(made, env)("MEPC : 0x42012345"), [], "the image has no ELF file");
  writeFileSync(join(made.folder, "xs_esp32.elf"), elfHead());
  const decode = decoder(made, env);
  t.deepEqual(decode("MEPC    : 0x42012345  RA      : 0x40380000  SP      : 0x3fc9f5e0"), [
    "0x42012345  fxRunID at xsRun.c:12",
  ]);
  t.deepEqual(decode("info: 0x42012345 points"), []);
  t.deepEqual(decoder(made, { PATH: place })("MEPC : 0x42012345"), []);
  t.false(existsSync(join(place, "none")));
});
