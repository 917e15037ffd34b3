import { closeSync, readSync } from "node:fs";
import type { LogMemory } from "../../extras/diagnostics/index.js";
import { openInPlace, writeAll } from "./files.js";

const SIZE = 4096;

/**
 * One page of a file. Written bytes survive the end of the process, but are not synced: the system
 * writes the page about every half minute, however many lines there are.
 */
export class FileLogMemory implements LogMemory {
  readonly size = SIZE;
  readonly #path: string;
  #file: number | undefined;

  /** The file is created on first use. */
  constructor(path: string) {
    this.#path = path;
  }

  read(at: number, into: Uint8Array): boolean {
    return this.#try((file) => {
      // Bytes after the end of the file read as zeros.
      into.fill(0);
      readSync(file, into, 0, into.length, at);
    });
  }

  write(at: number, bytes: Uint8Array): boolean {
    return this.#try((file) => writeAll(file, bytes, at));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #try(work: (file: number) => void): boolean {
    try {
      this.#file ??= openInPlace(this.#path);
      work(this.#file);
      return true;
    } catch {
      return false;
    }
  }
}
