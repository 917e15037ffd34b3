import type { Slot } from "../../src/port.js";
import { type Partition, PartitionBlocks } from "./partition.js";

/** Functions of the boot loader (ota.c) and the watchdog. */
export interface Ota {
  /** State of the running image, see IMAGE. */
  mote_image_state(): number;
  /** Number of the slot of the running image. */
  mote_running_slot(): number;
  /** Makes ESP-IDF verify the image in the other slot and start it next, on trial. 1 if it will. */
  mote_activate(): number;
  /** 1 if there is an image to roll back to. */
  mote_can_revert(): number;
  /** 1 if the flash of images is encrypted. */
  mote_is_encrypted(): number;
  /** 0 if the running image is confirmed now. */
  esp_ota_mark_app_valid_cancel_rollback(): number;
  /** Feeds the watchdog. */
  esp_task_wdt_reset(): number;
}

/** ESP-IDF's numbers; an image flashed over USB or serial has none. */
export const IMAGE = { new: 0, pending: 1, valid: 2, invalid: 3, aborted: 4 } as const;

/** Write unit of encrypted flash, in bytes. */
const BLOCK = 16;
/** The first byte of every image. */
const MAGIC = 0xe9;

/**
 * The OTA partition that is not running. It must not be changed while the running image is pending
 * (it is needed for the rollback), nor after it was activated.
 */
export class OtaSlot implements Slot {
  readonly size: number;
  readonly sectorSize: number;
  private readonly _blocks: PartitionBlocks;
  private readonly _ota: Ota;
  private readonly _isEncrypted: boolean;
  private _activated = false;
  /** Bytes of an incomplete block, and its position. */
  private readonly _tail = new Uint8Array(BLOCK);
  private _tailAt = 0;
  private _tailBytes = 0;
  /** Known once: a confirmed image is never on trial again. ESP-IDF reads flash for the answer. */
  private _confirmed = false;

  constructor(partition: Partition | undefined, ota: Ota) {
    this._blocks = new PartitionBlocks(partition, () => ota.esp_task_wdt_reset());
    this.size = this._blocks.size;
    this.sectorSize = this._blocks.sectorSize;
    this._ota = ota;
    this._isEncrypted = ota.mote_is_encrypted() === 1;
  }

  read(at: number, into: Uint8Array): boolean {
    return this._flush() && this._blocks.read(at, into);
  }

  /** To encrypted flash, writes whole blocks of 16 bytes. The rest waits for the next call. */
  write(at: number, bytes: Uint8Array): boolean {
    if (!this._writable()) return false;
    if (!this._isEncrypted) return this._blocks.write(at, bytes);
    const continues = this._tailBytes > 0 && at === this._tailAt + this._tailBytes;
    if (!continues && (at % BLOCK !== 0 || !this._flush())) return false;
    let from = 0;
    if (continues) {
      from = Math.min(BLOCK - this._tailBytes, bytes.length);
      this._tail.set(bytes.subarray(0, from), this._tailBytes);
      this._tailBytes += from;
      if (this._tailBytes < BLOCK) return true;
      if (!this._flush()) return false;
    }
    const whole = bytes.length - ((bytes.length - from) % BLOCK);
    if (whole > from && !this._blocks.write(at + from, bytes.subarray(from, whole))) return false;
    this._tail.set(bytes.subarray(whole));
    this._tailAt = at + whole;
    this._tailBytes = bytes.length - whole;
    return true;
  }

  erase(at: number): boolean {
    return this._writable() && this._flush() && this._blocks.erase(at);
  }

  state(): "confirmed" | "pending" {
    this._confirmed ||= this._ota.mote_image_state() !== IMAGE.pending;
    return this._confirmed ? "confirmed" : "pending";
  }

  /** An image flashed over USB or serial has no state, and its slot may hold any bytes. */
  image(): string | undefined {
    const isUpdate = [IMAGE.pending, IMAGE.valid].includes(this._ota.mote_image_state() as 1 | 2);
    return isUpdate ? `${this._ota.mote_running_slot()}` : undefined;
  }

  activate(length: number): boolean {
    if (length <= 0 || length > this.size || !this._writable() || !this._flush()) return false;
    const first = new Uint8Array(1);
    if (!this._blocks.read(0, first) || first[0] !== MAGIC) return false;
    this._activated = this._ota.mote_activate() === 1;
    return this._activated;
  }

  confirm(): boolean {
    return this.state() === "confirmed" || this._ota.esp_ota_mark_app_valid_cancel_rollback() === 0;
  }

  /**
   * The boot loader rolls back: however a pending image's run ends, the previous one starts next.
   */
  revert(): boolean {
    return this.state() === "pending" && this._ota.mote_can_revert() === 1;
  }

  /** Writes the last block, padded with the bytes of erased flash. */
  private _flush(): boolean {
    if (this._tailBytes === 0) return true;
    this._tail.fill(0xff, this._tailBytes);
    this._tailBytes = 0;
    return this._blocks.write(this._tailAt, this._tail);
  }

  private _writable(): boolean {
    return !this._activated && this.state() === "confirmed";
  }
}
