// Code addresses of a crash, named by the addr2line and objdump of ESP-IDF's toolchains.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onPath } from "../program.js";
import type { Image } from "./esp32.js";

const RISCV = 243;
const XTENSA = 94;
/** By the ELF file's machine; any toolchain of an architecture reads the files of all its chips. */
const PREFIXES: Readonly<Record<number, readonly string[]>> = {
  [RISCV]: ["riscv32-esp-elf-", "riscv64-unknown-elf-"],
  [XTENSA]: ["xtensa-esp32-elf-", "xtensa-esp32s3-elf-", "xtensa-esp32s2-elf-"],
};
/** Hexadecimal digits of the SHA-256 of the file, by which a board names its image. */
const BUILD = 16;
/** In objdump's words: a call that leaves its return address in ra. */
const CALL = /\t(?:c\.jalr?|jalr?)\t(?:.*)$/;
const WITHOUT_LINK = /\tjalr?\t(?!ra,)/;

export class Symbolizer {
  readonly #path: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #prefix: string;
  readonly #isRiscv: boolean;
  /** The image's name in a board's log. */
  readonly build: string;

  /** Throws an Error for another file, or without the toolchain on the path. */
  constructor(path: string, env: NodeJS.ProcessEnv = process.env) {
    const bytes = readFileSync(path);
    const isElf = bytes.length >= 52 && bytes.readUInt32BE(0) === 0x7f454c46;
    const machine = isElf ? bytes.readUInt16LE(18) : 0;
    // 32 bits, little endian.
    const prefixes = isElf && bytes[4] === 1 && bytes[5] === 1 ? PREFIXES[machine] : undefined;
    if (!prefixes) throw new Error(`${path} is not an ELF file of a board`);
    const prefix = prefixes.find((one) => onPath(`${one}addr2line`, env));
    if (prefix === undefined)
      throw new Error(`${prefixes[0]}addr2line is not on the path: run . $IDF_PATH/export.sh first`);
    this.#path = path;
    this.#env = env;
    this.#prefix = prefix;
    this.#isRiscv = machine === RISCV;
    this.build = createHash("sha256").update(bytes).digest("hex").slice(0, BUILD);
  }

  /** Function, file and line of each address, and those inlined there; `-` where no function is. */
  places(addresses: readonly number[]): string[] {
    if (addresses.length === 0) return [];
    const text = this.#run("addr2line", ["-pfiaC", "-e", this.#path, ...addresses.map(hex)]);
    const found = text.split(/^(?=0x)/m).map((part) => {
      const lines = part.trim().replace(/^0x[0-9a-f]+: /, "");
      return lines.startsWith("??") ? "-" : lines.replaceAll(/ at \?\?:[?0]/g, "").replaceAll(/\n\s*/g, " ");
    });
    return addresses.map((_, at) => found[at] ?? "-");
  }

  /**
   * Whether a call may return to the address. A RISC-V backtrace is whatever looked like code on
   * the stack; an
   * Xtensa one follows frames, so there the answer is always true.
   */
  followsCall(address: number): boolean {
    if (!this.#isRiscv) return true;
    // An instruction has 4 bytes or 2: only one of the two readings is the right one.
    return [4, 2].some((bytes) => {
      const range = [`--start-address=${hex(address - bytes)}`, `--stop-address=${hex(address)}`];
      const text = this.#run("objdump", ["-d", "-M", "no-aliases", ...range, this.#path]);
      const last = text.trimEnd().split("\n").at(-1) ?? "";
      return CALL.test(last) && !WITHOUT_LINK.test(last);
    });
  }

  #run(tool: string, words: string[]): string {
    const { stdout } = spawnSync(`${this.#prefix}${tool}`, words, { env: this.#env, encoding: "utf8" });
    return stdout ?? "";
  }
}

const hex = (address: number): string => `0x${Math.max(0, address).toString(16).padStart(8, "0")}`;

export const placeLine = (address: number, place: string): string => `${hex(address)}  ${place}`;

/** Serial lines with code addresses: registers (RISC-V) or the backtrace (Xtensa). */
const LINE = /^(?:MEPC|Backtrace|.*\bPC\b)\s*:/;
const ADDRESS = /\b0x(4[0-9a-f]{7})\b/gi;

/** The code addresses in a text. */
export const addressesIn = (text: string): number[] =>
  [...text.matchAll(ADDRESS)].map(([whole]) => Number(whole));

/** Names the addresses of a serial line, one line each; none without a toolchain. */
export function decoder(image: Image, env: NodeJS.ProcessEnv): (line: string) => string[] {
  let symbolizer: Symbolizer | undefined;
  return (line) => {
    if (!LINE.test(line)) return [];
    const addresses = addressesIn(line);
    if (addresses.length === 0) return [];
    try {
      symbolizer ??= new Symbolizer(join(image.folder, "xs_esp32.elf"), env);
    } catch {
      return [];
    }
    const places = symbolizer.places(addresses);
    return addresses
      .map((address, at) => placeLine(address, places[at] ?? "-"))
      .filter((one) => !one.endsWith("  -"));
  };
}
