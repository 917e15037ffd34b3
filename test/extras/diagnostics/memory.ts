// Memory for the last lines that a test cuts, tears and damages.
import type { LogMemory } from "../../../extras/diagnostics/types.js";

export class Cut extends Error {}

export class FakeLogMemory implements LogMemory {
  readonly bytes: Uint8Array;
  /** Bytes that are still written, then the machine is gone; undefined: it stays. */
  left: number | undefined;
  /**
   * What a cut write leaves, of the bytes that it would have changed. Default: the first of them.
   */
  tears: (piece: Uint8Array, done: number) => Uint8Array = (piece, done) => piece.subarray(0, done);
  fails = false;
  writes = 0;

  constructor(bytes: Uint8Array | number) {
    this.bytes = typeof bytes === "number" ? new Uint8Array(bytes) : bytes;
  }

  get size(): number {
    return this.bytes.length;
  }

  read(at: number, into: Uint8Array): boolean {
    if (this.fails) return false;
    into.set(this.bytes.subarray(at, at + into.length));
    return true;
  }

  write(at: number, piece: Uint8Array): boolean {
    if (at < 0 || at + piece.length > this.bytes.length) throw new Error(`written at ${at}: ${piece.length}`);
    if (this.fails) return false;
    this.writes++;
    if (this.left !== undefined && this.left < piece.length) {
      this.bytes.set(this.tears(piece, this.left), at);
      this.left = 0;
      throw new Cut("the machine is gone");
    }
    if (this.left !== undefined) this.left -= piece.length;
    this.bytes.set(piece, at);
    return true;
  }
}
