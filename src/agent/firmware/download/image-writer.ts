// Writes an image to the slot, its first bytes last.
//
// Each sector is erased when its first byte arrives, the first one with the old header. The first
// bytes of the image stay in memory and in the journal until all others were verified in the slot.
// So a slot with an incomplete or wrong image has no header and cannot start.
import type { Slot } from "../../../port.js";

/** The header: bytes that are written last. Also the write unit of encrypted flash. */
export const HEAD_BYTES = 32;
const ERASED = 0xff;

export class ImageWriter {
  private readonly _slot: Slot;
  /** Number of bytes that were taken. They are in the slot, except the header. */
  offset: number;
  readonly head: Uint8Array = new Uint8Array(HEAD_BYTES);

  /** `offset`: the first byte of a sector. `head`: the first bytes, if `offset` is not 0. */
  constructor(slot: Slot, offset: number, head: Uint8Array) {
    this._slot = slot;
    this.offset = offset;
    this.head.set(head);
  }

  /** Takes the bytes from `offset` on. False if the slot could not be written. */
  append(bytes: Uint8Array): boolean {
    const { _slot: slot, head } = this;
    for (let from = 0; from < bytes.length; ) {
      const at = this.offset;
      const inSector = at % slot.sectorSize;
      if (inSector === 0 && !slot.erase(at)) return false;
      const isHead = at < HEAD_BYTES;
      const piece = bytes.subarray(from, from + (isHead ? HEAD_BYTES - at : slot.sectorSize - inSector));
      if (isHead) head.set(piece, at);
      else if (!slot.write(at, piece)) return false;
      from += piece.length;
      this.offset += piece.length;
    }
    return true;
  }

  /** Makes all bytes durable, as a read does. False if that failed. */
  flush(): boolean {
    return this._slot.read(this.offset - 1, new Uint8Array(1));
  }
}

/**
 * Writes the header `head` of an image of `size` bytes, whose other bytes were verified. False if
 * that failed.
 */
export const writeHeader = (slot: Slot, head: Uint8Array, size: number): boolean => {
  const found = new Uint8Array(head.length);
  if (!slot.read(0, found)) return false;
  if (found.every((byte, i) => byte === head[i])) return true;
  // A power loss left a part of the header, or the flash is encrypted: it must be erased, which the
  // rest of its sector has to survive.
  if (found.some((byte) => byte !== ERASED)) {
    const rest = new Uint8Array(Math.min(slot.sectorSize, size) - head.length);
    if (!slot.read(head.length, rest) || !slot.erase(0) || !slot.write(head.length, rest)) return false;
  }
  // A read makes earlier writes durable. So the image is durable before its header, and the header
  // before success is reported.
  const byte = new Uint8Array(1);
  return slot.read(size - 1, byte) && slot.write(0, head) && slot.read(0, byte);
};
