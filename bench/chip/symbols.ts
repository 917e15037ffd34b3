// Which function an address belongs to, and which part of the image a function: from the program's ELF file and the linker's map.
import type { Counts } from "./counts.js";

export interface Symbols {
  /** Where a function or an object begins; undefined if there is none of this name. */
  address(name: string): number | undefined;
  /** From its first byte to behind its last. */
  range(name: string): readonly [from: number, to: number] | undefined;
  /** The function that holds an address. */
  at(address: number): string;
}

const SYMTAB = 2;
const OBJECT = 1;
const FUNCTION = 2;
const NOTYPE = 0;
const ABSOLUTE = 0xfff1;
/** The ROM's code, of a C3 and of a classic ESP32: the linker's scripts name its functions, without a type. */
const ROM = { from: 0x40000000, to: 0x40060000 } as const;
const UNKNOWN = "(unknown)";

/** Of a 32-bit little-endian ELF file. Throws if it is none. */
export function readSymbols(elf: Buffer): Symbols {
  if (elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 1 || elf[5] !== 1)
    throw new Error("no 32-bit little-endian ELF file");
  const [sections, size, count] = [elf.readUInt32LE(32), elf.readUInt16LE(46), elf.readUInt16LE(48)];
  const found: { address: number; bytes: number; name: string }[] = [];
  const byName = new Map<string, (typeof found)[number]>();
  for (let i = 0; i < count; i++) {
    const section = sections + i * size;
    if (elf.readUInt32LE(section + 4) !== SYMTAB) continue;
    const names = elf.readUInt32LE(sections + elf.readUInt32LE(section + 24) * size + 16);
    const from = elf.readUInt32LE(section + 16);
    for (let at = from; at < from + elf.readUInt32LE(section + 20); at += 16) {
      const address = elf.readUInt32LE(at + 4);
      const type = elf[at + 12]! & 15;
      const isRom = address >= ROM.from && address < ROM.to && elf.readUInt16LE(at + 14) === ABSOLUTE;
      const isCode = type === FUNCTION || (type === NOTYPE && isRom);
      if (!isCode && type !== OBJECT) continue;
      const start = names + elf.readUInt32LE(at);
      const name = elf.toString("latin1", start, elf.indexOf(0, start));
      if (name === "") continue;
      const symbol = { address, bytes: elf.readUInt32LE(at + 8), name };
      byName.set(name, symbol);
      if (isCode) found.push(symbol);
    }
  }
  found.sort((one, other) => one.address - other.address);
  return {
    address: (name) => byName.get(name)?.address,
    range(name) {
      const symbol = byName.get(name);
      return symbol && [symbol.address, symbol.address + symbol.bytes];
    },
    at(address) {
      let [low, high] = [0, found.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (found[middle]!.address <= address) low = middle + 1;
        else high = middle;
      }
      const last = found[low - 1];
      if (last === undefined) return UNKNOWN;
      // Assembler's functions have no size.
      const bytes = last.bytes || 4096;
      return address < last.address + bytes ? last.name : UNKNOWN;
    },
  };
}

const ALLOCATED = 2;
const NO_BYTES = 8;

/** The words that an image has at its addresses; undefined where it has none. */
export function readWords(elf: Buffer): (address: number) => number | undefined {
  const [sections, size, count] = [elf.readUInt32LE(32), elf.readUInt16LE(46), elf.readUInt16LE(48)];
  const found = Array.from({ length: count }, (_, i) => sections + i * size)
    .filter((at) => elf.readUInt32LE(at + 4) !== NO_BYTES && (elf.readUInt32LE(at + 8) & ALLOCATED) !== 0)
    .map((at) => {
      const [address, offset, bytes] = [12, 16, 20].map((field) => elf.readUInt32LE(at + field));
      return { address: address!, offset: offset!, bytes: bytes! };
    });
  return (address) => {
    const section = found.find((one) => address >= one.address && address + 4 <= one.address + one.bytes);
    return section && elf.readUInt32LE(section.offset + address - section.address);
  };
}

/** What code is for, by the archive and object that it came from; the first that fits. */
const PARTS: readonly (readonly [part: string, pattern: RegExp])[] = [
  ["XS core", /xs_esp32\w*\.a\(xs[A-Z]\w*\.c?\.?o/],
  ["TLS", /lib(?:mbed[\w-]*|tfpsacrypto|everest|p256m|esp-tls|builtin)\.a/],
  ["lwIP and network", /lib(?:lwip|esp_netif|esp_eth|tcp_transport)\.a/],
  ["HTTP client, cJSON", /lib(?:esp_http_client|esp_https_ota|http_parser|cjson|json|[\w]*cjson)\.a/],
  ["flash and NVS", /lib(?:spi_flash|nvs_flash|esp_partition|app_update|bootloader_support)\.a/],
  ["FreeRTOS and ticks", /lib(?:freertos|esp_timer|riscv|xtensa|esp_system|hal|esp_hal_systimer)\.a/],
  ["C library", /lib(?:c|m|gcc|nosys|stdc\+\+|newlib|esp_libc)(?:_nano)?\.a/],
  ["modules in C", /xs_esp32\w*\.a|libmain\.a/],
];
const ROM_PART = "ROM";
const REST = "ESP-IDF";

const partOf = (object: string): string => PARTS.find(([, pattern]) => pattern.test(object))?.[0] ?? REST;

const SECTION = /^ \.\S+\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (\S.*)$/gm;

/** The part of the code at an address. `map`: the linker's, which says of each section of code where it came from. */
export function readParts(map: string): (address: number) => string {
  // A long name has a line of its own.
  const text = map.replace(/^( \.\S+)\n\s+0x/gm, "$1 0x");
  const found = [...text.matchAll(SECTION)]
    .map(([, address, bytes, object]) => {
      const from = Number.parseInt(address!, 16);
      return { from, to: from + Number.parseInt(bytes!, 16), part: partOf(object!) };
    })
    .filter(({ from, to }) => from >= ROM.from && to > from)
    .sort((one, other) => one.from - other.from);
  return (address) => {
    if (address >= ROM.from && address < ROM.to) return ROM_PART;
    let [low, high] = [0, found.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (found[middle]!.from <= address) low = middle + 1;
      else high = middle;
    }
    const last = found[low - 1];
    return last !== undefined && address < last.to ? last.part : REST;
  };
}

/** Instructions outside the program: those of the ROM, and of the boot loader (no symbols). */
export function loaderInstructions({ blocks }: Pick<Counts, "blocks">, symbols: Symbols): number {
  let sum = 0;
  for (const [address, { instructions }] of blocks) {
    const isRom = address >= ROM.from && address < ROM.to;
    if (isRom || symbols.at(address) === UNKNOWN) sum += instructions;
  }
  return sum;
}
