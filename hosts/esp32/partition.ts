import type { Blocks } from "../../src/port.js";

/** What is used of a partition of the SDK's flash storage. All of it throws on failure. */
export interface Partition {
  read(into: Uint8Array, position: number): unknown;
  /** Erases nothing. */
  write(bytes: Uint8Array, position: number): void;
  /** By number, not by address. */
  eraseBlock(block: number): void;
  status(): { size: number; blockLength: number };
}

/** Raw sectors of a partition. Without one there are none, and the queue is in memory. */
export class PartitionBlocks implements Blocks {
  readonly size: number;
  readonly sectorSize: number;
  readonly #partition: Partition | undefined;

  constructor(partition: Partition | undefined) {
    const { size, blockLength } = partition?.status() ?? { size: 0, blockLength: 0 };
    this.#partition = partition;
    this.sectorSize = blockLength;
    this.size = blockLength > 0 ? size - (size % blockLength) : 0;
  }

  read(at: number, into: Uint8Array): boolean {
    return this.#within(at, into.length) && this.#tried((partition) => partition.read(into, at));
  }

  write(at: number, bytes: Uint8Array): boolean {
    if (!this.#within(at, bytes.length)) return false;
    if (bytes.length === 0) return true;
    const sector = Math.floor(at / this.sectorSize);
    if (Math.floor((at + bytes.length - 1) / this.sectorSize) !== sector) return false;
    return this.#tried((partition) => partition.write(bytes, at));
  }

  erase(at: number): boolean {
    if (!this.#within(at, this.sectorSize) || at % this.sectorSize !== 0) return false;
    return this.#tried((partition) => partition.eraseBlock(at / this.sectorSize));
  }

  #within(at: number, length: number): boolean {
    return Number.isInteger(at) && at >= 0 && at + length <= this.size;
  }

  #tried(step: (partition: Partition) => unknown): boolean {
    if (!this.#partition) return false;
    try {
      step(this.#partition);
      return true;
    } catch {
      return false;
    }
  }
}
