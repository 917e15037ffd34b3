import { createHash } from "node:crypto";
import test from "ava";
import { decodeLine } from "../../../tools/cli/commands/decode.js";
import { Elf } from "../../../tools/moddable/esp32/elf.js";
import { randomBytes } from "../../fakes/host.js";
import { elfFile, MADE } from "./elf-file.js";

const XTENSA = 94;
const ENDS = [
  { name: "main", address: 0x42000000, code: [0xef, 0x00, 0x40, 0x01] },
  { name: "leaf", address: 0x42000004, code: [0x13, 0x00, 0x00, 0x00, 0x13, 0x00, 0x00, 0x00] },
];

test("an address is named by the function that it lies in, and the build as a board names it", (t) => {
  const file = elfFile(MADE);
  const elf = new Elf(file);
  t.is(elf.build, createHash("sha256").update(file).digest("hex").slice(0, 16));
  t.deepEqual(elf.placeOf(0x42000000), { name: "main", within: 0 });
  t.deepEqual(elf.placeOf(0x42000017), { name: "main", within: 23 });
  t.deepEqual(elf.placeOf(0x42000018), { name: "leaf", within: 0 });
  for (const nowhere of [0, 0x41ffffff, 0x42000020, 0xffffffff]) t.is(elf.placeOf(nowhere), undefined);
});

test("a RISC-V chip's stack holds what follows a call, and what does not: the latter is left out", (t) => {
  const elf = new Elf(elfFile(MADE));
  const calls = Array.from({ length: 17 }, (_, at) => 0x42000000 + at * 2).filter((at) =>
    elf.followsCall(at),
  );
  t.deepEqual(
    calls.map((at) => at - 0x42000000),
    [0x04, 0x0c, 0x0e, 0x12],
  );
  for (const nowhere of [0, 0x42000002, 0x50000000]) t.false(elf.followsCall(nowhere));
  t.true(new Elf(elfFile(MADE, XTENSA)).followsCall(0x42000008));
});

test("below a backtrace stand its functions, unless it is of another build; below any other line those of its addresses", (t) => {
  const elf = new Elf(elfFile(MADE));
  const line = `  12.5 s  error  backtrace of ${elf.build}: 0x42000018 0x42000004 0x42000008 0x4200000c`;
  t.deepEqual(decodeLine(elf, line), ["0x42000018  leaf +0", "0x42000004  main +4", "0x4200000c  main +12"]);
  // What never returns is the last thing of its function.
  t.deepEqual(new Elf(elfFile(ENDS)).placeOf(0x42000004), { name: "leaf", within: 0 });
  const ends = new Elf(elfFile(ENDS));
  t.deepEqual(decodeLine(ends, `backtrace of ${ends.build}: 0x42000008 0x42000004`), [
    "0x42000008  leaf +4",
    "0x42000004  main +4",
  ]);
  t.deepEqual(decodeLine(elf, "backtrace of 0123456789abcdef: 0x42000018"), [
    `of another build: this one is ${elf.build}`,
  ]);
  t.deepEqual(decodeLine(elf, "MEPC    : 0x42000008  RA      : 0x4200ffff"), [
    "0x42000008  main +8",
    "0x4200ffff  -",
  ]);
  t.deepEqual(decodeLine(elf, "info: online 0x3fc90000 42000008"), []);
});

test("what is no ELF file of a board is refused, and a damaged one never read beyond its end", (t) => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.alloc(100),
    Buffer.from("\x7fELF\x02\x01".padEnd(100, "\0"), "latin1"),
  ])
    t.throws(() => new Elf(bytes), { message: /no ELF file of a board/ });
  t.throws(() => new Elf(elfFile([])), { message: /no symbols/ });
  const whole = elfFile(MADE);
  const next = randomBytes(1);
  for (let length = 52; length < whole.length; length += 3) {
    const cut = whole.subarray(0, length);
    const damaged = Buffer.from(whole);
    for (let n = 0; n < 4; n++) damaged[52 + ((next() * 256 + next()) % (whole.length - 52))] = next();
    for (const bytes of [cut, damaged])
      try {
        const elf = new Elf(bytes);
        for (let at = 0x42000000; at < 0x42000024; at += 2) {
          elf.followsCall(at);
          elf.placeOf(at);
        }
      } catch (error) {
        t.regex((error as Error).message, /damaged|no symbols/);
      }
  }
});
