import type { Blocks } from "../../../port.js";
import { firstOf, HEADER_BYTES, headerKind, isSound, sequenceOf } from "./sector-header.js";

/** A read that fails once may be a bus that was disturbed; points are not given up for that. */
const TRIES = 3;

/** Where in the blocks the sector of a sequence number lies, and what its header says. */
export class SectorMap {
  readonly blocks: Blocks;
  readonly size: number;
  readonly count: number;
  /** The header read last. */
  readonly header = new Uint8Array(HEADER_BYTES);
  /** The host could not read: what was not found may be there. */
  unread = false;
  private _shift = 0;

  constructor(blocks: Blocks) {
    this.blocks = blocks;
    this.size = blocks.sectorSize;
    this.count = Math.floor(blocks.size / blocks.sectorSize);
  }

  /** The sector with number `sequence` lies at `index`, the next one behind it, and so on round. */
  anchor(sequence: number, index: number): void {
    this._shift = (index - (sequence % this.count) + this.count) % this.count;
  }

  /** Byte position of a sector. */
  at(sequence: number): number {
    return ((sequence + this._shift) % this.count) * this.size;
  }

  /** Fills `into` from `at`. False if the host could not, three times. */
  read(at: number, into: Uint8Array): boolean {
    for (let tries = 0; tries < TRIES; tries++) if (this.blocks.read(at, into)) return true;
    this.unread = true;
    return false;
  }

  /** Number of the first point in sector `sequence`; undefined if its header is not there. */
  firstIn(sequence: number): number | undefined {
    if (sequence < 1) return undefined;
    if (!this.read(this.at(sequence), this.header)) return undefined;
    const isWanted = headerKind(this.header) === "own" && sequenceOf(this.header) === sequence;
    return isWanted && isSound(this.header) ? firstOf(this.header) : undefined;
  }
}
