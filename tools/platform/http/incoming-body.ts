import { ChunkReader } from "./chunks.js";
import type { Framing } from "./prepared.js";

/** A body without a length is not limited by the platform; here it ends at this. */
const LARGEST = 64 * 1024 * 1024;
/** Of all bodies that are on their way together. */
const LARGEST_TOGETHER = 256 * 1024 * 1024;

let together = 0;

/** The body of a request on its way: kept until it is whole, or handed on piece by piece. */
export class IncomingBody {
  readonly #handOn: ((piece: Uint8Array) => void) | undefined;
  readonly #chunks: ChunkReader | undefined;
  #pieces: Uint8Array[] = [];
  #size = 0;
  #left: number;

  constructor(framing: Framing, handOn?: (piece: Uint8Array) => void) {
    this.#handOn = handOn;
    this.#left = framing.kind === "length" ? framing.length : 0;
    this.#chunks = framing.kind === "chunked" ? new ChunkReader() : undefined;
  }

  get isDone(): boolean {
    return this.#chunks ? this.#chunks.isDone : this.#left === 0;
  }

  get isTooLarge(): boolean {
    return this.#size > LARGEST || together > LARGEST_TOGETHER;
  }

  /** Takes bytes from the front; the result is how many. Throws ChunkError. */
  take(bytes: Uint8Array): number {
    if (this.#chunks) return this.#chunks.take(bytes, (data) => this.#keep(data));
    const taken = Math.min(this.#left, bytes.length);
    this.#left -= taken;
    this.#keep(bytes.subarray(0, taken));
    return taken;
  }

  whole(): Uint8Array {
    const [only = new Uint8Array(0)] = this.#pieces;
    return this.#pieces.length > 1 ? Buffer.concat(this.#pieces) : only;
  }

  /** Gives back what it takes of the memory of all. */
  forget(): void {
    together -= this.#size;
    this.#size = 0;
    this.#pieces = [];
  }

  #keep(piece: Uint8Array): void {
    if (this.#handOn) {
      this.#handOn(piece);
      return;
    }
    this.#size += piece.length;
    together += piece.length;
    this.#pieces.push(piece);
  }
}
