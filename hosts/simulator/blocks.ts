import type { File, Files } from "embedded:storage/files";
import type { Blocks } from "../../src/port.js";
import { mayBeThere } from "./files.js";

export const SECTOR = 4096;

/**
 * Sectors in one sparse file with inverted bytes: a hole reads as erased flash. Writing to bytes
 * that are not erased is refused.
 */
export class FileBlocks implements Blocks {
  readonly size: number;
  readonly sectorSize = SECTOR;
  private readonly _file: File;
  private readonly _scratch = new Uint8Array(SECTOR);

  /** Creates a file of `size` bytes if there is none. Throws if that fails. */
  constructor(files: Files, path: string, size: number) {
    this._file = open(files, path);
    const found = this._file.status().size;
    if (found === 0) this._file.setSize(size);
    const usable = found === 0 ? size : found;
    this.size = usable - (usable % SECTOR);
  }

  read(at: number, into: Uint8Array): boolean {
    if (!this._within(at, into.length)) return false;
    try {
      if (into.length > 0 && this._file.read(into, at) !== into.length) return false;
      for (let i = 0; i < into.length; i++) into[i] = into[i]! ^ 0xff;
      return true;
    } catch {
      return false;
    }
  }

  write(at: number, bytes: Uint8Array): boolean {
    if (!this._within(at, bytes.length) || (at % SECTOR) + bytes.length > SECTOR) return false;
    if (bytes.length === 0) return true;
    const piece = this._scratch.subarray(0, bytes.length);
    if (!this.read(at, piece)) return false;
    for (let i = 0; i < piece.length; i++) {
      if (piece[i] !== 0xff) return false;
      piece[i] = bytes[i]! ^ 0xff;
    }
    return this._put(piece, at);
  }

  erase(at: number): boolean {
    if (at % SECTOR !== 0 || !this._within(at, SECTOR)) return false;
    this._scratch.fill(0);
    return this._put(this._scratch, at);
  }

  close(): void {
    this._file.close();
  }

  private _within(at: number, length: number): boolean {
    return Number.isInteger(at) && at >= 0 && at + length <= this.size;
  }

  private _put(bytes: Uint8Array, at: number): boolean {
    try {
      this._file.write(bytes, at);
      this._file.flush();
      return true;
    } catch {
      return false;
    }
  }
}

const open = (files: Files, path: string): File => {
  if (!mayBeThere(files, path)) return files.openFile({ path, mode: "w+" });
  try {
    return files.openFile({ path, mode: "r+" });
  } catch {
    return files.openFile({ path, mode: "w+" });
  }
};
