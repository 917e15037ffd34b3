import type { Slot } from "../../src/port.js";
import { type Partition, PartitionBlocks } from "./partition.js";

/** What is used of the SDK's update. All of it throws on failure. */
export interface Updates {
  /** Mode "w" erases the first `byteLength` bytes. */
  open(options: { partition: Partition; mode: "w"; byteLength: number }): {
    write(bytes: Uint8Array, position: number): void;
    /** Checks the whole image, and makes it the one of the next start. */
    complete(): void;
    close(): void;
  };
}

/** What the boot loader keeps of images (ota.c), and the watchdog. */
export interface Ota {
  /** Of the running image: see IMAGE. */
  mote_image_state(): number;
  /** 1 if there is an image to fall back to. */
  mote_can_revert(): number;
  /** 0 if the running image is kept from now on. */
  esp_ota_mark_app_valid_cancel_rollback(): number;
  /** Feeds the watchdog. */
  esp_task_wdt_reset(): number;
}

/** As ESP-IDF numbers them; an image that came by cable has none. */
export const IMAGE = { new: 0, pending: 1, valid: 2, invalid: 3, aborted: 4 } as const;

/** The first byte of every image. */
const MAGIC = 0xe9;

/**
 * The OTA partition that does not run. Nothing in it may be touched while the running image is pending: it is the way back. Nor once
 * it was activated: it is the way on.
 */
export class OtaSlot implements Slot {
  readonly size: number;
  readonly sectorSize: number;
  private readonly _partition: Partition | undefined;
  private readonly _blocks: PartitionBlocks;
  private readonly _updates: Updates;
  private readonly _ota: Ota;
  private _activated = false;

  constructor(partition: Partition | undefined, updates: Updates, ota: Ota) {
    this._partition = partition;
    this._blocks = new PartitionBlocks(partition, () => ota.esp_task_wdt_reset());
    this.size = this._blocks.size;
    this.sectorSize = this._blocks.sectorSize;
    this._updates = updates;
    this._ota = ota;
  }

  read(at: number, into: Uint8Array): boolean {
    return this._blocks.read(at, into);
  }

  write(at: number, bytes: Uint8Array): boolean {
    return this._writable() && this._blocks.write(at, bytes);
  }

  erase(at: number): boolean {
    return this._writable() && this._blocks.erase(at);
  }

  state(): "confirmed" | "pending" {
    return this._ota.mote_image_state() === IMAGE.pending ? "pending" : "confirmed";
  }

  /** The image lies in the slot as it is; the SDK's update erases and writes its first sector anew, checks the whole of it, and switches. */
  activate(length: number): boolean {
    if (length <= 0 || length > this.size || !this._partition || !this._writable()) return false;
    const first = new Uint8Array(this.sectorSize);
    if (!this._blocks.read(0, first) || first[0] !== MAGIC) return false;
    this._activated = this._switch(this._partition, first);
    return this._activated;
  }

  confirm(): boolean {
    return this.state() === "confirmed" || this._ota.esp_ota_mark_app_valid_cancel_rollback() === 0;
  }

  /** The boot loader does it: whatever ends a pending image's run, the one before starts next. */
  revert(): boolean {
    return this.state() === "pending" && this._ota.mote_can_revert() === 1;
  }

  /** A power cut in here leaves a slot without a beginning, and the running image as the one that starts. */
  private _switch(partition: Partition, first: Uint8Array): boolean {
    let update: ReturnType<Updates["open"]> | undefined;
    try {
      update = this._updates.open({ partition, mode: "w", byteLength: this.sectorSize });
      update.write(first, 0);
      const back = new Uint8Array(this.sectorSize);
      if (!this._blocks.read(0, back) || back.some((byte, at) => byte !== first[at])) return false;
      update.complete();
      return true;
    } catch {
      return false;
    } finally {
      try {
        update?.close();
      } catch {}
    }
  }

  private _writable(): boolean {
    return !this._activated && this.state() === "confirmed";
  }
}
