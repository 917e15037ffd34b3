import type { File, Files } from "embedded:storage/files";
import type { Blocks } from "../../src/port.js";

export const SECTOR = 4096;

/** Sectors in one sparse file, each byte inverted: a hole reads as erased flash. A write onto bytes that are not erased is refused. */
export class FileBlocks implements Blocks {
  readonly size: number;
  readonly sectorSize = SECTOR;
  readonly #file: File;
  readonly #scratch = new Uint8Array(SECTOR);

  /** Makes a file of `size` bytes if there is none. Throws if there can be none. */
  constructor(files: Files, path: string, size: number) {
    this.#file = open(files, path);
    const found = this.#file.status().size;
    if (found === 0) this.#file.setSize(size);
    const usable = found === 0 ? size : found;
    this.size = usable - (usable % SECTOR);
  }

  read(at: number, into: Uint8Array): boolean {
    if (!this.#within(at, into.length)) return false;
    try {
      if (into.length > 0 && this.#file.read(into, at) !== into.length) return false;
      for (let i = 0; i < into.length; i++) into[i] = into[i]! ^ 0xff;
      return true;
    } catch {
      return false;
    }
  }

  write(at: number, bytes: Uint8Array): boolean {
    if (!this.#within(at, bytes.length) || (at % SECTOR) + bytes.length > SECTOR) return false;
    if (bytes.length === 0) return true;
    const piece = this.#scratch.subarray(0, bytes.length);
    if (!this.read(at, piece)) return false;
    for (let i = 0; i < piece.length; i++) {
      if (piece[i] !== 0xff) return false;
      piece[i] = bytes[i]! ^ 0xff;
    }
    return this.#put(piece, at);
  }

  erase(at: number): boolean {
    if (at % SECTOR !== 0 || !this.#within(at, SECTOR)) return false;
    this.#scratch.fill(0);
    return this.#put(this.#scratch, at);
  }

  close(): void {
    this.#file.close();
  }

  #within(at: number, length: number): boolean {
    return Number.isInteger(at) && at >= 0 && at + length <= this.size;
  }

  #put(bytes: Uint8Array, at: number): boolean {
    try {
      this.#file.write(bytes, at);
      this.#file.flush();
      return true;
    } catch {
      return false;
    }
  }
}

function open(files: Files, path: string): File {
  try {
    return files.openFile({ path, mode: "r+" });
  } catch {
    return files.openFile({ path, mode: "w+" });
  }
}
