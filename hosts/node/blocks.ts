import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, readSync } from "node:fs";
import { dirname } from "node:path";
import type { Blocks } from "../../src/port.js";
import { makeDirectory, openInPlace, syncDirectory, syncLeft, writeAll } from "./files.js";

export const SECTOR = 4096;

/**
 * Sectors in one sparse file. The file holds each byte inverted: a hole reads as zeros, and so as erased flash.
 * Stricter than flash in one thing: a write onto bytes that are not erased is refused, where flash would mix old and new.
 */
export class FileBlocks implements Blocks {
  readonly size: number;
  readonly sectorSize = SECTOR;
  readonly #file: number;
  readonly #isSlot: boolean;
  // Written, and not synced yet.
  #isLoose = false;
  // One sector of scratch: what is written must not change what the caller gave.
  readonly #scratch = Buffer.alloc(SECTOR);
  readonly #zeros = Buffer.alloc(SECTOR);

  /**
   * Makes a file of `size` bytes if there is none. One of another size is kept as it is, and `warn` is called. On a disk that is
   * read-only it can only be read. In a slot a sector is synced once, when its last byte was written, or before anything is read or erased.
   * Throws if there can be no such file.
   */
  constructor(path: string, size: number, warn: (line: string) => void, use: "queue" | "slot" = "queue") {
    this.#isSlot = use === "slot";
    makeDirectory(dirname(path));
    this.#file = openInPlace(path);
    const found = fstatSync(this.#file).size;
    if (found === 0) {
      ftruncateSync(this.#file, size - (size % SECTOR));
      fsyncSync(this.#file);
      syncDirectory(dirname(path));
    } else {
      syncLeft(path);
      syncLeft(dirname(path));
      if (found !== size) warn(`${path} has ${found} bytes, not ${size}: kept as it is`);
    }
    const usable = found === 0 ? size : found;
    this.size = usable - (usable % SECTOR);
  }

  read(at: number, into: Uint8Array): boolean {
    if (!this.#within(at, into.length)) return false;
    try {
      this.#sync();
      this.#load(at, into);
      invert(into, into);
      return true;
    } catch {
      return false;
    }
  }

  write(at: number, bytes: Uint8Array): boolean {
    if (!this.#within(at, bytes.length)) return false;
    if ((at % SECTOR) + bytes.length > SECTOR) return false;
    const piece = this.#scratch.subarray(0, bytes.length);
    try {
      this.#load(at, piece);
      if (!piece.equals(this.#zeros.subarray(0, piece.length))) return false;
      invert(bytes, piece);
      writeAll(this.#file, piece, at);
      this.#isLoose = true;
      if (!this.#isSlot || (at + bytes.length) % SECTOR === 0) this.#sync();
      return true;
    } catch {
      return false;
    }
  }

  erase(at: number): boolean {
    if (at % SECTOR !== 0 || !this.#within(at, SECTOR)) return false;
    try {
      this.#sync();
      this.#load(at, this.#scratch);
      // A hole stays a hole: nothing to write, nothing to wait for.
      if (this.#scratch.equals(this.#zeros)) return true;
      writeAll(this.#file, this.#zeros, at);
      this.#isLoose = true;
      this.#sync();
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Throws. */
  #sync(): void {
    if (!this.#isLoose) return;
    fdatasyncSync(this.#file);
    this.#isLoose = false;
  }

  #within(at: number, length: number): boolean {
    return Number.isInteger(at) && at >= 0 && at + length <= this.size;
  }

  #load(at: number, into: Uint8Array): void {
    let done = 0;
    while (done < into.length) {
      const got = readSync(this.#file, into, done, into.length - done, at + done);
      if (got === 0) throw new Error("the file ends early");
      done += got;
    }
  }
}

function invert(from: Uint8Array, to: Uint8Array): void {
  for (let i = 0; i < from.length; i++) to[i] = from[i]! ^ 0xff;
}
