import test from "ava";
import { codeBytes, readRom, romBytes } from "../../../tools/moddable/rom.js";

const SOURCE = String.raw`
#define mxHeapCount 3
#define mxKeysCount 2
static const txScript gxScripts[mxScriptsCount] = {
	{ xsHostModule0, NULL, 0, NULL, 0, NULL, 0, "Resource", { 1 } },
	{ NULL, NULL, 0, (txS1*)gxCode1, 429, NULL, 0, "left", { 1 } },
};
	{ NULL, {.ID = 14, .flag = 0x87, .kind = XS_KEY_X_KIND}, .value = { .key = { "Array", 0xaa3 } }},
	{ NULL, {.ID = 14, .flag = 0x87, .kind = XS_KEY_X_KIND}, .value = { .key = { (txString)"Array", 0xaa3 } }},
	{ NULL, {.ID = 1, .kind = XS_STRING_X_KIND}, .value = { .string = "a\"b" } },
	{ NULL, {.ID = 1, .kind = XS_CODE_X_KIND}, .value = { .code = { (txByte*)"\x0d\x02a\\", (txSlot*)&gxHeap[1] } } },
	{ 1536, 512, 512, 64, 512, 64, 32, 53, 3, 1024, 17, 112640, 0},
`;

test("slots, keys, code and texts are read from what the linker wrote", (t) => {
  const rom = readRom(SOURCE);
  t.deepEqual(rom, {
    slots: 3,
    keys: 2,
    code: 4,
    texts: 6 + 6 + 4,
    engine: 112_640,
    begins: 1536 + (512 + 512) * 16,
    unpreloaded: [{ name: "left", bytes: 429 }],
  });
  t.is(romBytes(rom), 3 * 16 + 2 * 4 + 4 + 16 + 429);
});

test("what the linker did not write is refused", (t) => {
  t.throws(() => readRom("int main;"), { message: /mxHeapCount is missing/ });
});

const atom = (type: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
};

test("the code of a module is measured without its names", (t) => {
  const xsb = atom("XS_B", Buffer.concat([atom("SYMB", Buffer.alloc(70)), atom("CODE", Buffer.alloc(33))]));
  t.is(codeBytes(xsb), 33);
  t.is(codeBytes(Buffer.from("#!/bin/sh and more")), undefined);
  t.is(codeBytes(atom("XS_B", Buffer.alloc(16))), undefined);
});
