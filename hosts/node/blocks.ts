import { closeSync, fdatasyncSync, fstatSync, fsyncSync, ftruncateSync, readSync } from "node:fs";
import { dirname } from "node:path";
import type { Blocks } from "../../src/port.js";
import {
  codeOf,
  makeDirectory,
  makeOwnDirectory,
  openInPlace,
  StateFileError,
  syncDirectory,
  syncLeft,
  writeAll,
} from "./files.js";

export const SECTOR = 4096;

/**
 * The queue file cannot be read, or the disk has no room for it. Nothing in it was changed. The
 * device must not start, because it would accept points that are lost uncounted.
 */
export class QueueFileError extends StateFileError {
  override name = "QueueFileError";
}

/**
 * Sectors in one file. Bytes are stored inverted, so that zeros read as erased flash. A queue's
 * file is written in full once to reserve its room; a slot's file is sparse. Writing to bytes that
 * are not erased is refused, where real flash would mix old and new.
 */
export class FileBlocks implements Blocks {
  readonly size: number;
  readonly sectorSize = SECTOR;
  readonly #file: number;
  readonly #isSlot: boolean;
  // Written but not synced yet.
  #isUnsynced = false;
  // A scratch sector, so that the caller's bytes are not changed.
  readonly #scratch = Buffer.alloc(SECTOR);
  readonly #zeros = Buffer.alloc(SECTOR);

  /**
   * Creates a file of `size` bytes if there is none. A queue of another size is kept, unless it is
   * shorter than two sectors, and so is a longer slot; `warn` is called. On a read-only disk it
   * can only be read. A
   * slot's sector is synced once: after its last byte, or before the next read or erase. Throws if
   * the file cannot be used, with QueueFileError for a queue.
   */
  constructor(path: string, size: number, warn: (line: string) => void, use: "queue" | "slot" = "queue") {
    this.#isSlot = use === "slot";
    if (this.#isSlot) makeOwnDirectory(dirname(path));
    else makeDirectory(dirname(path));
    this.#file = this.#isSlot ? openInPlace(path) : openQueue(path);
    const { size: found, blocks } = fstatSync(this.#file);
    // A queue too short for use: extended, it is read, and what is missing is counted. A slot needs
    // its room, and what is missing of its image shows in the checksum.
    const isCut = found < (this.#isSlot ? size : Math.min(2 * SECTOR, size));
    if (isCut && found > 0) warn(`${path} was cut to ${found} bytes: extended to ${size}`);
    if (isCut) {
      try {
        ftruncateSync(this.#file, size - (size % SECTOR));
        fsyncSync(this.#file);
        syncDirectory(dirname(path));
      } catch (error) {
        // On a read-only disk, the image in a slot can still run.
        if (!this.#isSlot) throw error;
      }
    } else {
      syncLeft(path);
      syncLeft(dirname(path));
      if (found !== size) warn(`${path} has ${found} bytes, not ${size}: kept as it is`);
    }
    const { size: usable } = fstatSync(this.#file);
    this.size = usable - (usable % SECTOR);
    // If the system does not report the blocks of a file, assume that an existing one is complete.
    if (!this.#isSlot) this.#reserve(path, isCut || blocks * STAT_BLOCK < this.size);
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
      this.#isUnsynced = true;
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
      // A hole, or erased before.
      if (this.#scratch.equals(this.#zeros)) return true;
      writeAll(this.#file, this.#zeros, at);
      this.#isUnsynced = true;
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
    if (!this.#isUnsynced) return;
    fdatasyncSync(this.#file);
    this.#isUnsynced = false;
  }

  /** Reads every sector, and writes the zeros of erased ones if the file may have holes. */
  #reserve(path: string, hasHoles: boolean): void {
    try {
      for (let at = 0; at < this.size; at += SECTOR) {
        this.#load(at, this.#scratch);
        if (hasHoles && this.#scratch.equals(this.#zeros)) writeAll(this.#file, this.#zeros, at);
      }
      if (hasHoles) fsyncSync(this.#file);
    } catch (error) {
      const code = codeOf(error);
      // Opened on a read-only disk.
      if (code === "EBADF") return;
      closeSync(this.#file);
      if (code === UNKNOWN) throw error;
      if (code === "ENOSPC" || code === "EDQUOT") throw new QueueFileError(noRoom(path, this.size));
      throw new QueueFileError(`the durable queue ${path} can't be read or reserved (${code}): ${CHECK}`);
    }
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

const STAT_BLOCK = 512;
const UNKNOWN = "unknown error";
const CHECK = "check the disk; the file was left as it is";

const noRoom = (path: string, size: number): string =>
  `the disk has no room for the durable queue ${path} (${size} bytes): free that much and start again`;

/** Throws QueueFileError if the path is not a file, or may not be opened. */
function openQueue(path: string): number {
  try {
    return openInPlace(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === UNKNOWN) throw error;
    if (error instanceof StateFileError && code !== "EACCES")
      throw new QueueFileError(`the durable queue ${error.message}`);
    throw new QueueFileError(`the durable queue ${path} can't be opened (${code}): ${CHECK}`);
  }
}

function invert(from: Uint8Array, to: Uint8Array): void {
  for (let i = 0; i < from.length; i++) to[i] = from[i]! ^ 0xff;
}
