// Addresses of a crash, by a toolchain's stand-in, and by a real one where the machine has it.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { decodeLine } from "../../../tools/cli/commands/decode.js";
import { EmulatedBoard, findEmulator, fromInside } from "../../../tools/moddable/esp32/emulator.js";
import type { Image } from "../../../tools/moddable/esp32/esp32.js";
import { partsOf, writeFlash } from "../../../tools/moddable/esp32/flash-image.js";
import { decoder, Symbolizer } from "../../../tools/moddable/esp32/symbolizer.js";
import { onPath } from "../../../tools/moddable/program.js";
import { buildOf, elfHead, fakeToolchain } from "./toolchain.js";

const home = mkdtempSync(join(tmpdir(), "mote-symbolizer-"));
test.after.always(() => rmSync(home, { recursive: true, force: true }));
const PATH = fakeToolchain(home);
const XTENSA = 94;

function elf(name: string, bytes = elfHead()): string {
  const path = join(home, name);
  writeFileSync(path, bytes);
  return path;
}

test("an address is named by function and line, and the build as a board names it", (t) => {
  const symbolizer = new Symbolizer(elf("xs_esp32.elf"), { PATH });
  t.is(symbolizer.build, buildOf(elfHead()));
  t.deepEqual(symbolizer.places([]), []);
  t.deepEqual(symbolizer.places([0x42000000, 0x50000000, 0x42000018]), [
    "main at app.c:7 (inlined by) loop at app.c:9",
    "-",
    "leaf",
  ]);
});

test("a backtrace keeps what follows a call, and one of another build is not decoded", (t) => {
  const symbolizer = new Symbolizer(elf("trace.elf"), { PATH });
  const { build } = symbolizer;
  const main = "main at app.c:7 (inlined by) loop at app.c:9";
  const line = `  12.5 s  error  backtrace of ${build}: 0x42000018 0x42000004 0x42000008 0x4200000c`;
  t.deepEqual(decodeLine(symbolizer, line), [
    "0x42000018  leaf",
    `0x42000004  ${main}`,
    `0x4200000c  ${main}`,
  ]);
  // The call is the last instruction of a function that never returns: its return address is in the next one.
  const ends = `backtrace of ${build}: 0x42000008 0x42000018`;
  t.deepEqual(decodeLine(symbolizer, ends), [`0x42000008  ${main}`]);
  t.deepEqual(decodeLine(symbolizer, "backtrace of 0123456789abcdef: 0x42000018"), [
    `not decoded: the backtrace is from another build (this one: ${build})`,
  ]);
  t.deepEqual(decodeLine(symbolizer, "MEPC    : 0x42000008  RA      : 0x4200ffff"), [
    `0x42000008  ${main}`,
    "0x4200ffff  -",
  ]);
  t.deepEqual(decodeLine(symbolizer, "info: online 0x3fc90000 42000008"), []);
});

test("reports a foreign file or a missing toolchain with advice", (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(100),
    elfHead(62),
    Buffer.from("\x7fELF\x02\x01".padEnd(100, "\0"), "latin1"),
  ])
    t.throws(() => new Symbolizer(elf("wrong", bytes), { PATH }), {
      message: /is not an ELF file of a board/,
    });
  t.throws(() => new Symbolizer(elf("none.elf"), { PATH: "/nowhere" }), {
    message: "riscv32-esp-elf-addr2line is not on the path: run . $IDF_PATH/export.sh first",
  });
  t.throws(() => new Symbolizer(elf("xtensa.elf", elfHead(XTENSA)), { PATH: "/nowhere" }), {
    message: /^xtensa-esp32-elf-addr2line/,
  });
});

/** Every instruction that calls, and some that do not. */
const SOURCE = `
  .text
  .type main, @function
main:
  .option norvc
  jal ra, leaf
  addi zero, zero, 0
  jalr ra, 0(a1)
  .option rvc
  c.jalr a0
  c.nop
  c.jal leaf
  c.ebreak
  .option norvc
  jal zero, leaf
  .size main, .-main
  .type leaf, @function
leaf:
  addi zero, zero, 0
  jalr zero, 0(ra)
  .size leaf, .-leaf
`;
const TOOLS = ["riscv32-esp-elf-", "riscv64-unknown-elf-"].find((one) => onPath(`${one}as`, process.env));
const withTools = TOOLS === undefined ? test.skip : test;

withTools(`a real toolchain finds each call${TOOLS ? "" : " (none on this machine)"}`, (t) => {
  const [source, object, file] = ["s", "o", "elf"].map((end) => join(home, `real.${end}`)) as [
    string,
    string,
    string,
  ];
  writeFileSync(source, SOURCE);
  spawnSync(`${TOOLS}as`, ["-g", "-march=rv32imc", "-mabi=ilp32", source, "-o", object]);
  const linked = ["-m", "elf32lriscv", "-Ttext=0x42000000", "-e", "main", "--no-relax", object, "-o", file];
  spawnSync(`${TOOLS}ld`, linked);
  const symbolizer = new Symbolizer(file);
  const all = Array.from({ length: 17 }, (_, at) => 0x42000000 + at * 2);
  t.deepEqual(
    all.filter((at) => symbolizer.followsCall(at)).map((at) => at - 0x42000000),
    [0x04, 0x0c, 0x0e, 0x12],
  );
  t.deepEqual(
    symbolizer.places([0x42000017, 0x42000018, 0x50000000]).map((place) => place.split(" ")[0]),
    ["main", "leaf", "-"],
  );
});

// The emulator's command without an emulator: a program of its name stands for it, and says what it was asked.

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
