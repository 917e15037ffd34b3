// Writes an image to the slot while it comes, and checks it on the way.
//
// Sector 0 is erased first, and its first bytes are written last, after the checksum was found right: a slot that holds a part of an image, or a
// wrong one, has no header that anything could start. Every other sector is erased when its first byte comes.
import type { Host, Slot } from "../../../port.js";
import type { Image } from "../admission.js";
import { type Check, openCheck, type Problem, pause } from "./verification.js";

/** With sector 0 (4 KiB) and what is on its way on top, still less than the 16 KiB that a restart may cost. */
const STEP_BYTES = 8192;
/** Held back until the image is whole. Encrypted flash is written in as many. */
const HEAD_BYTES = 32;
const PIECE_BYTES = 1024;
/** Read without a break for other work. */
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
  /** Bytes taken: in the slot, or in memory the first ones. */
  offset = 0;
  /** A download before a restart left these bytes in the slot, all but sector 0. */
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

  /** Where the next request must end: before bytes that are in the slot already. */
  get end(): number {
    return this.resumable > 0 ? this._slot.sectorSize : this.size;
  }

  /** Makes the slot unfit to start. False if it could not. */
  open(): boolean {
    return this._slot.erase(0);
  }

  /** Takes the bytes from `offset` on, `end` not exceeded. False if the slot could not be written. */
  take(bytes: Uint8Array): boolean {
    this._check.write(bytes);
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

  /** Sector 0 is there again: takes what the slot holds after it. False if it could not be read. */
  async recall(): Promise<boolean> {
    const resumable = this.resumable;
    this.resumable = 0;
    const good = await readSlot(this._host, this._check, this.offset, resumable);
    if (good) this.offset = resumable;
    return good;
  }

  /** The checksum of all bytes, once `problem` was asked. */
  get found(): string {
    return this._check.found;
  }

  /** Of all bytes. To be called once. */
  problem(): Promise<Problem> {
    return this._check.problem();
  }

  /** Writes the first bytes. False if it could not. */
  finish(): boolean {
    // What was written is durable once anything is read: no header in front of what a power loss may take, and none that it may take.
    const byte = new Uint8Array(1);
    return (
      this._slot.read(this.size - 1, byte) && this._slot.write(0, this._head) && this._slot.read(0, byte)
    );
  }

  private _write(piece: Uint8Array): boolean {
    const inSector = this.offset % this._slot.sectorSize;
    if (inSector === 0 && !this._slot.erase(this.offset)) return false;
    return this._slot.write(this.offset, piece);
  }
}

/** Reads back what was written: true if it is the image, whole. */
export async function slotHolds(host: Host, image: Image): Promise<boolean> {
  const check = openCheck(host, image);
  if (!check || !(await readSlot(host, check, 0, image.size))) return false;
  return (await check.problem()) === undefined;
}

/** Feeds `check` with what the slot holds from `from` to `to`. False if it could not be read. */
async function readSlot(host: Host, check: Check, from: number, to: number): Promise<boolean> {
  const buffer = new Uint8Array(PIECE_BYTES);
  for (let at = from; at < to; at += PIECE_BYTES) {
    const piece = to - at < PIECE_BYTES ? buffer.subarray(0, to - at) : buffer;
    if (!host.slot.read(at, piece)) return false;
    check.write(piece);
    if ((at - from) % SLICE_BYTES === 0) await pause(host.clock);
  }
  return true;
}
