// Sectors as flash has them, in an array. What is against the rules of flash throws and is noted,
// in case somebody catches it.
import type { Blocks, Slot } from "../../src/port.js";

export class FakeFlash implements Blocks {
  readonly size: number;
  readonly sectorSize: number;
  /** Erases of each sector. */
  readonly erases: number[];
  /** Writes and erases so far. */
  changes = 0;
  readonly violations: string[] = [];
  /** Return true to let a call fail. */
  fails: ((call: "read" | "write" | "erase", at: number) => boolean) | undefined;
  /** Made when they are wanted: most hosts of a sweep touch few of their sectors. */
  #bytes: Uint8Array | undefined;
  readonly #written: (Uint8Array | undefined)[] = [];

  constructor(size: number, sectorSize: number, bytes?: Uint8Array) {
    if (sectorSize < 1 || size % sectorSize !== 0) throw new Error("size is a multiple of sectorSize");
    this.size = size;
    this.sectorSize = sectorSize;
    this.#bytes = bytes;
    this.erases = new Array<number>(size / Math.max(1, sectorSize)).fill(0);
  }

  /** The content; a copy of it given to the constructor is what survives a power loss. */
  get bytes(): Uint8Array {
    this.#bytes ??= new Uint8Array(this.size).fill(0xff);
    return this.#bytes;
  }

  read(at: number, into: Uint8Array): boolean {
    if (at < 0 || at + into.length > this.size) this.#violate(`read of ${into.length} bytes at ${at}`);
    if (this.fails?.("read", at)) return false;
    into.set(this.bytes.subarray(at, at + into.length));
    return true;
  }

  write(at: number, bytes: Uint8Array): boolean {
    const end = at + bytes.length;
    if (at < 0 || end > this.size) this.#violate(`write of ${bytes.length} bytes at ${at}`);
    if (bytes.length > 0 && Math.floor(at / this.sectorSize) !== Math.floor((end - 1) / this.sectorSize))
      this.#violate(`write across sectors at ${at}`);
    if (this.fails?.("write", at)) return false;
    const written = this.#writtenAt(at);
    const from = at % this.sectorSize;
    const to = from + bytes.length;
    if (written.subarray(from, to).includes(1)) this.#violate(`second write at ${at}`);
    this.changes++;
    this.bytes.set(bytes, at);
    written.fill(1, from, to);
    return true;
  }

  erase(at: number): boolean {
    if (at < 0 || at >= this.size || at % this.sectorSize !== 0) this.#violate(`erase at ${at}`);
    if (this.fails?.("erase", at)) return false;
    this.changes++;
    this.bytes.fill(0xff, at, at + this.sectorSize);
    const sector = at / this.sectorSize;
    this.#written[sector]?.fill(0);
    this.erases[sector]!++;
    return true;
  }

  /** As by a restart: a byte counts as written unless it reads 0xff. */
  forgetWrites(): void {
    this.#written.length = 0;
  }

  /** Of the sector at `at`, 1 for each byte that was written since its erase. */
  #writtenAt(at: number): Uint8Array {
    const sector = Math.floor(at / this.sectorSize);
    const start = sector * this.sectorSize;
    // What is not 0xff was written; a byte written as 0xff before the power loss can't be known.
    this.#written[sector] ??= this.bytes
      .subarray(start, start + this.sectorSize)
      .map((byte) => (byte === 0xff ? 0 : 1));
    return this.#written[sector];
  }

  #violate(what: string): never {
    this.violations.push(what);
    throw new Error(`against the rules of flash: ${what}`);
  }
}

/** The slot that is not running, and what was asked of it. */
export class FakeSlot extends FakeFlash implements Slot {
  /** `pending` while the running image waits to be confirmed. */
  current: "confirmed" | "pending" = "confirmed";
  /** Length of the image that starts next, if one was activated. */
  activated: number | undefined;
  reverted = false;
  /** Return false to let `activate`, `confirm` or `revert` fail. */
  allows: ((call: "activate" | "confirm" | "revert") => boolean) | undefined;

  state(): "confirmed" | "pending" {
    return this.current;
  }

  activate(length: number): boolean {
    if (length <= 0 || length > this.size || this.allows?.("activate") === false) return false;
    this.activated = length;
    return true;
  }

  confirm(): boolean {
    if (this.allows?.("confirm") === false) return false;
    this.current = "confirmed";
    return true;
  }

  revert(): boolean {
    if (this.current !== "pending" || this.allows?.("revert") === false) return false;
    this.reverted = true;
    return true;
  }
}
