// Writes an image to the slot during the download and computes its checksum.
//
// Sector 0 is erased first, and its first bytes are written last, after the checksum was verified.
// So a slot with an incomplete or wrong image has no header and cannot start. Every other sector is
// erased when its first byte arrives.
import { invariant } from "../../../invariant.js";
import { pause } from "../../../platform/wait.js";
import type { Host, Slot } from "../../../port.js";
import { sameChecksum } from "../../../wire/crypto/checksum.js";
import type { Image } from "../admission.js";
import { type Check, openCheck, type Problem } from "./verification.js";

/** With sector 0 (4 KiB) and bytes in transit, still below the 16 KiB that a restart may repeat. */
const STEP_BYTES = 8192;
/** Bytes held back until the image is complete; also the write unit of encrypted flash. */
const HEAD_BYTES = 32;
const PIECE_BYTES = 1024;
/** Bytes read between two pauses for other work. */
const SLICE_BYTES = 32_768;

export interface WriteListener {
  /** Bytes of this range came from the network. */
  onTake(from: number, to: number): void;
  /** All bytes before `offset` are in the slot, except sector 0. Called every 8 KiB. */
  onStep(offset: number): void;
}

export class ImageWriter {
  private readonly _slot: Slot;
  private readonly _host: Host;
  private readonly _check: Check;
  private readonly _head: Uint8Array;
  private readonly _step: number;
  readonly size: number;
  /**
   * Number of processed bytes. They are in the slot, except the first ones, which are in memory.
   */
  offset = 0;
  /** Number of bytes, except sector 0, that a download before a restart left in the slot. */
  resumable: number;
  /** True if every byte came over the network in this run. */
  readonly fresh: boolean;
  private readonly _listener: WriteListener;

  constructor(host: Host, check: Check, size: number, resumable: number, listener: WriteListener) {
    this._listener = listener;
    this._host = host;
    this._slot = host.slot;
    this._check = check;
    this.size = size;
    const { sectorSize } = host.slot;
    this._step = Math.max(1, Math.floor(STEP_BYTES / sectorSize)) * sectorSize;
    this.resumable =
      resumable > sectorSize && resumable < size && resumable % sectorSize === 0 ? resumable : 0;
    this.fresh = this.resumable === 0;
    this._head = new Uint8Array(Math.min(HEAD_BYTES, size));
  }

  /** Limit of the next request: it must end before bytes that are already in the slot. */
  get requestEnd(): number {
    return this.resumable > 0 ? this._slot.sectorSize : this.size;
  }

  /** Number of bytes of the image that are there. */
  get done(): number {
    return Math.max(this.offset, this.resumable);
  }

  /** Makes the slot unbootable. False if that failed. */
  unseal(): boolean {
    return this._slot.erase(0);
  }

  /** Processes bytes from `offset` on, up to `end`. False if the slot could not be written. */
  append(bytes: Uint8Array): boolean {
    this._check.absorb(bytes);
    this._listener.onTake(this.offset, this.offset + bytes.length);
    let from = 0;
    while (from < bytes.length) {
      const sector = this._slot.sectorSize;
      const inHead = this.offset < this._head.length;
      const room = inHead ? this._head.length - this.offset : sector - (this.offset % sector);
      const piece = bytes.subarray(from, from + room);
      if (inHead) this._head.set(piece, this.offset);
      else if (!this._write(piece)) return false;
      from += piece.length;
      this.offset += piece.length;
      if (this.offset % this._step === 0 && this.offset < this.size) this._listener.onStep(this.offset);
    }
    return true;
  }

  /**
   * Sector 0 is complete again: processes the bytes after it in the slot. False if reading failed.
   */
  async recall(): Promise<boolean> {
    const resumable = this.resumable;
    this.resumable = 0;
    const good = await readSlot(this._host, this._check, this.offset, resumable);
    if (good) this.offset = resumable;
    return good;
  }

  /** Checksum of all bytes; valid after `problem()`. */
  get found(): string {
    return this._check.found;
  }

  /** Judges all bytes. Call once. */
  problem(): Promise<Problem> {
    return this._check.problem();
  }

  /** Writes the first bytes. False if that failed. */
  seal(): boolean {
    invariant("the header of an image is written only after its checksum was verified", () => {
      const { found, image } = this._check;
      return found !== "" && (image.checksum === "" || sameChecksum(found, image.checksum));
    });
    // A read makes earlier writes durable. So the image is durable before its header, and the
    // header before success is reported.
    const byte = new Uint8Array(1);
    return (
      this._slot.read(this.size - 1, byte) && this._slot.write(0, this._head) && this._slot.read(0, byte)
    );
  }

  private _write(piece: Uint8Array): boolean {
    invariant("the header of an image is written last", () => this.offset >= this._head.length);
    const inSector = this.offset % this._slot.sectorSize;
    if (inSector === 0 && !this._slot.erase(this.offset)) return false;
    return this._slot.write(this.offset, piece);
  }
}

/** Reads the slot back. True if it holds the complete image. */
export async function slotHolds(host: Host, image: Image): Promise<boolean> {
  const check = openCheck(host, image);
  if (!check || !(await readSlot(host, check, 0, image.size))) return false;
  return (await check.problem()) === undefined;
}

/** Feeds `check` with the slot's bytes from `from` to `to`. False if reading failed. */
async function readSlot(host: Host, check: Check, from: number, to: number): Promise<boolean> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (let at = from; at < to; at += PIECE_BYTES) {
    const piece = to - at < PIECE_BYTES ? buffer.subarray(0, to - at) : buffer;
    if (!host.slot.read(at, piece)) return false;
    check.absorb(piece);
    if ((at - from) % SLICE_BYTES === 0) await pause(host.clock);
  }
  return true;
}
