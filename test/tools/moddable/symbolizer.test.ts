// Addresses of a crash, by a toolchain's stand-in, and by a real one where the machine has it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { decodeLine } from "../../../tools/cli/commands/decode.js";
import { Symbolizer } from "../../../tools/moddable/esp32/symbolizer.js";
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
    `of another build: this one is ${build}`,
  ]);
  t.deepEqual(decodeLine(symbolizer, "MEPC    : 0x42000008  RA      : 0x4200ffff"), [
    `0x42000008  ${main}`,
    "0x4200ffff  -",
  ]);
  t.deepEqual(decodeLine(symbolizer, "info: online 0x3fc90000 42000008"), []);
});

test("a file that is not a board's, and a toolchain that is missing, are reported with what to do", (t) => {
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
