// The functions of an image, from the symbols of its ELF file: what an address of a backtrace lies in, without a compiler's tools.
import { createHash } from "node:crypto";

/** Hexadecimal digits of the SHA-256 of the file, by which a board names its image. */
const BUILD = 16;
const SECTION = { bytes: 40, symbols: 2, empty: 8 };
const SYMBOL = { bytes: 16, function: 2 };
const EXECUTABLE = 4;
const RISCV = 243;
/** No image has more. */
const MOST = 1_000_000;

interface Section {
  readonly type: number;
  readonly flags: number;
  readonly address: number;
  readonly offset: number;
  readonly size: number;
  readonly link: number;
}

interface Named {
  readonly address: number;
  readonly size: number;
  readonly name: string;
}

export interface Place {
  readonly name: string;
  /** Bytes from the function's beginning. */
  readonly within: number;
}

export class Elf {
  /** As a board has it in its log. */
  readonly build: string;
  readonly #bytes: Buffer;
  readonly #sections: readonly Section[];
  readonly #functions: readonly Named[];
  readonly #isRiscv: boolean;

  /** Throws an Error for what is no ELF file of a board, or has no symbols. */
  constructor(bytes: Buffer) {
    const isElf = bytes.length >= 52 && bytes.readUInt32BE(0) === 0x7f454c46;
    // 32 bits, the low byte first.
    if (!isElf || bytes[4] !== 1 || bytes[5] !== 1) throw new Error("it is no ELF file of a board");
    this.#bytes = bytes;
    this.#isRiscv = bytes.readUInt16LE(18) === RISCV;
    this.build = createHash("sha256").update(bytes).digest("hex").slice(0, BUILD);
    try {
      this.#sections = this.#readSections();
      this.#functions = this.#readFunctions();
    } catch (error) {
      throw new Error("the ELF file is damaged", { cause: error });
    }
    if (this.#functions.length === 0) throw new Error("the ELF file has no symbols");
  }

  /** What lies at an address; undefined where no function does. */
  placeOf(address: number): Place | undefined {
    let [low, high] = [0, this.#functions.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#functions[middle]!.address <= address) low = middle + 1;
      else high = middle;
    }
    const found = this.#functions[low - 1];
    if (!found || address >= found.address + found.size) return undefined;
    return { name: found.name, within: address - found.address };
  }

  /** Whether a call may return to an address: one that a RISC-V chip found on a stack may be anything. Always true of other chips, which follow their frames. */
  followsCall(address: number): boolean {
    if (!this.#isRiscv) return true;
    const code = this.#codeBefore(address);
    if (!code) return false;
    const short = code.readUInt16LE(2);
    const long = code.readUInt32LE(0);
    // c.jalr, c.jal, and jal and jalr that leave their address in ra.
    if ((short & 0xf07f) === 0x9002 && (short & 0x0f80) !== 0) return true;
    if ((short & 0xe003) === 0x2001) return true;
    const opcode = long & 0x7f;
    return (opcode === 0x6f || opcode === 0x67) && ((long >>> 7) & 0x1f) === 1;
  }

  #codeBefore(address: number): Buffer | undefined {
    const section = this.#sections.find(
      ({ flags, type, address: start, size }) =>
        (flags & EXECUTABLE) !== 0 &&
        type !== SECTION.empty &&
        address >= start + 4 &&
        address <= start + size,
    );
    if (!section) return undefined;
    const at = section.offset + address - section.address;
    return at > this.#bytes.length ? undefined : this.#bytes.subarray(at - 4, at);
  }

  #readSections(): Section[] {
    const bytes = this.#bytes;
    const [from, count] = [bytes.readUInt32LE(32), bytes.readUInt16LE(48)];
    return Array.from({ length: count }, (_, index) => {
      const at = from + index * SECTION.bytes;
      const word = (offset: number): number => bytes.readUInt32LE(at + offset);
      return {
        ...{ type: word(4), flags: word(8), address: word(12) },
        ...{ offset: word(16), size: word(20), link: word(24) },
      };
    });
  }

  #readFunctions(): Named[] {
    const bytes = this.#bytes;
    const table = this.#sections.find(({ type }) => type === SECTION.symbols);
    const names = table && this.#sections[table.link];
    if (!names) return [];
    const count = Math.min(MOST, Math.floor(table.size / SYMBOL.bytes));
    const found: Named[] = [];
    for (let index = 0; index < count; index++) {
      const at = table.offset + index * SYMBOL.bytes;
      if ((bytes.readUInt8(at + 12) & 15) !== SYMBOL.function) continue;
      const [start, size] = [bytes.readUInt32LE(at + 4), bytes.readUInt32LE(at + 8)];
      const name = names.offset + bytes.readUInt32LE(at);
      const end = bytes.indexOf(0, name);
      if (size > 0 && end > name)
        found.push({ address: start, size, name: bytes.toString("utf8", name, end) });
    }
    return found.sort((one, other) => one.address - other.address);
  }
}
