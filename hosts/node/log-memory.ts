import { closeSync, readSync } from "node:fs";
import type { LogMemory } from "../../extras/log/index.js";
import { type Fence, openInPlace, writeAll } from "./files.js";

const SIZE = 4096;

/**
 * One page of a file. What was written is the system's once a call returns, so that no kill takes it back; it is not synced, as a line is not worth a
 * wait for the disk: however many there are, the system writes that page every half a minute at the most.
 */
export class FileLogMemory implements LogMemory {
  readonly size = SIZE;
  readonly #path: string;
  readonly #fence: Fence;
  #file: number | undefined;

  /** The file is made when it is first used. */
  constructor(path: string, fence: Fence) {
    this.#path = path;
    this.#fence = fence;
  }

  read(at: number, into: Uint8Array): boolean {
    return this.#try((file) => {
      // Where the file ends there are zeros.
      into.fill(0);
      readSync(file, into, 0, into.length, at);
    });
  }

  write(at: number, bytes: Uint8Array): boolean {
    return this.#fence.holds() && this.#try((file) => writeAll(file, bytes, at));
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
