import type { Blocks } from "../../src/port.js";

/** The parts of the SDK's partitions that are used. All throw on failure. */
export interface Partition {
  read(into: Uint8Array, position: number): unknown;
  /** Does not erase. */
  write(bytes: Uint8Array, position: number): void;
  /** By number, not by address. */
  eraseBlock(block: number): void;
  status(): { size: number; blockLength: number };
}

/** Raw sectors of a partition. Without a partition, the queue is in memory. */
export class PartitionBlocks implements Blocks {
  readonly size: number;
  readonly sectorSize: number;
  private readonly _partition: Partition | undefined;
  private readonly _feed: () => void;

  /**
   * `feed`: feeds the watchdog. Erasing a sector takes up to 0.4 s, and a reset erases hundreds in
   * a row.
   */
  constructor(partition: Partition | undefined, feed: () => void) {
    const { size, blockLength } = partition?.status() ?? { size: 0, blockLength: 0 };
    this._partition = partition;
    this._feed = feed;
    this.sectorSize = blockLength;
    this.size = blockLength > 0 ? size - (size % blockLength) : 0;
  }

  read(at: number, into: Uint8Array): boolean {
    if (!this._partition || !this._within(at, into.length)) return false;
    // Not by `_tried`, which would create a function for each read of the queue.
    try {
      this._partition.read(into, at);
      return true;
    } catch {
      return false;
    }
  }

  write(at: number, bytes: Uint8Array): boolean {
    if (!this._within(at, bytes.length)) return false;
    if (bytes.length === 0) return true;
    const sector = Math.floor(at / this.sectorSize);
    if (Math.floor((at + bytes.length - 1) / this.sectorSize) !== sector) return false;
    return this._tried((partition) => partition.write(bytes, at));
  }

  erase(at: number): boolean {
    if (!this._within(at, this.sectorSize) || at % this.sectorSize !== 0) return false;
    this._feed();
    return this._tried((partition) => partition.eraseBlock(at / this.sectorSize));
  }

  private _within(at: number, length: number): boolean {
    return Number.isInteger(at) && at >= 0 && at + length <= this.size;
  }

  private _tried(step: (partition: Partition) => void): boolean {
    if (!this._partition) return false;
    try {
      step(this._partition);
      return true;
    } catch {
      return false;
    }
  }
}
