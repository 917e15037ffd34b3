// An ELF file of a board, made of its functions: code, symbols, names.

export interface MadeFunction {
  readonly name: string;
  readonly address: number;
  /** In the section that begins at the first function's address. */
  readonly code: readonly number[];
}

const HEAD = 52;
const SECTION = 40;
const RISCV = 243;

/** `functions`: without gaps, in order. `machine`: as ELF numbers it. */
export function elfFile(functions: readonly MadeFunction[], machine = RISCV): Buffer {
  const code = Buffer.from(functions.flatMap((one) => one.code));
  const names = Buffer.from(`\0${functions.map(({ name }) => `${name}\0`).join("")}`);
  let named = 1;
  const symbols = functions.map((one) => {
    const symbol = Buffer.alloc(16);
    symbol.writeUInt32LE(named, 0);
    symbol.writeUInt32LE(one.address, 4);
    symbol.writeUInt32LE(one.code.length, 8);
    symbol[12] = 0x12;
    named += one.name.length + 1;
    return symbol;
  });
  // An object, which is no place of code.
  const table = Buffer.concat([
    Buffer.alloc(16),
    ...symbols,
    Buffer.concat([Buffer.alloc(12), Buffer.from([0x11, 0, 0, 0])]),
  ]);
  const head = Buffer.alloc(HEAD);
  head.set([0x7f, 0x45, 0x4c, 0x46, 1, 1, 1]);
  head.writeUInt16LE(machine, 18);
  const at = { code: HEAD, table: HEAD + code.length, names: HEAD + code.length + table.length };
  head.writeUInt32LE(at.names + names.length, 32);
  head.writeUInt16LE(SECTION, 46);
  head.writeUInt16LE(4, 48);
  const sections = [
    [0, 0, 0, 0, 0, 0],
    [1, 6, functions[0]?.address ?? 0, at.code, code.length, 0],
    [2, 0, 0, at.table, table.length, 3],
    [3, 0, 0, at.names, names.length, 0],
  ].map((fields) => {
    const section = Buffer.alloc(SECTION);
    fields.forEach((field, index) => {
      section.writeUInt32LE(field, 4 + index * 4);
    });
    return section;
  });
  return Buffer.concat([head, code, table, names, ...sections]);
}

/** Two functions: `main`, which calls by each instruction that there is for it, and `leaf`, which calls nothing. */
export const MADE: readonly MadeFunction[] = [
  {
    name: "main",
    address: 0x42000000,
    code: [
      ...[0xef, 0x00, 0x40, 0x01], // 00 jal ra
      ...[0x13, 0x00, 0x00, 0x00], // 04 nop
      ...[0xe7, 0x80, 0x05, 0x00], // 08 jalr ra, a1
      ...[0x02, 0x95], // 0c c.jalr a0
      ...[0x01, 0x00], // 0e c.nop
      ...[0x11, 0x20], // 10 c.jal
      ...[0x02, 0x90], // 12 c.ebreak
      ...[0x6f, 0x00, 0x40, 0x00], // 14 j
    ],
  },
  { name: "leaf", address: 0x42000018, code: [0x13, 0x00, 0x00, 0x00, 0x67, 0x80, 0x00, 0x00] },
];
