import type { Blocks, Digest, Slot } from "../../../src/port.js";
import { toHex } from "../../../src/wire/crypto/hex.js";
import { type Boot, type ImageRecord, otherSlot, reverted, type SlotName, without } from "./boot-record.js";

/** Storage of the boot record. */
export interface BootStore {
  /** Undefined if there is none. Throws if the record cannot be read; it is not deleted then. */
  read(): Boot | undefined;
  /** Durable on return. Throws if that failed. */
  write(boot: Boot): void;
}

/** The sectors of a slot. */
export interface ClosableBlocks extends Blocks {
  close(): void;
}

/**
 * The slot that is not running, and the boot record. The slot is read-only while the running image
 * is pending, because it holds the previous image, and after an activation, because it starts next.
 */
export class TwoSlots implements Slot {
  readonly size: number;
  readonly sectorSize: number;
  private readonly _store: BootStore;
  private readonly _running: SlotName;
  private readonly _blocks: ClosableBlocks;
  private readonly _sha256: () => Digest;
  private _state: "confirmed" | "pending";
  private _activated = false;
  /** The slot's image was removed from the record, which is required before its first write. */
  private _forgotten = false;

  /**
   * `open` opens the sectors of a slot. `running`: the slot whose image runs, if it is not the
   * recorded one. Throws what `open` and `store.read` throw.
   */
  constructor(
    store: BootStore,
    open: (name: SlotName) => ClosableBlocks,
    sha256: () => Digest,
    running?: SlotName,
  ) {
    const boot = store.read();
    this._store = store;
    this._running = running ?? boot?.active ?? "a";
    this._state = boot?.active === this._running ? boot.state : "confirmed";
    this._blocks = open(otherSlot(this._running));
    this._sha256 = sha256;
    this.size = this._blocks.size;
    this.sectorSize = this._blocks.sectorSize;
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
    return this._state;
  }

  activate(length: number): boolean {
    if (!this._writable()) return false;
    const image = imageRecord(this._blocks, length, this._sha256());
    if (!image) return false;
    const next = otherSlot(this._running);
    const boot = this._boot();
    const images = { ...boot.images, [next]: image };
    this._activated = this._save({
      ...boot,
      active: next,
      state: "pending",
      started: false,
      starts: 0,
      images,
    });
    return this._activated;
  }

  confirm(): boolean {
    if (this._state === "confirmed") return true;
    if (!this._save({ ...this._boot(), ...this._confirmed })) return false;
    this._state = "confirmed";
    return true;
  }

  revert(): boolean {
    if (this._state !== "pending") return false;
    const boot = reverted({ ...this._boot(), active: this._running });
    return boot !== undefined && this._save(boot);
  }

  image(): string | undefined {
    return this._boot().images[this._running]?.sha256;
  }

  close(): void {
    this._blocks.close();
  }

  private get _confirmed(): Pick<Boot, "active" | "state" | "started" | "starts"> {
    return { active: this._running, state: "confirmed", started: false, starts: 0 };
  }

  private _writable(): boolean {
    if (this._state === "pending" || this._activated) return false;
    if (this._forgotten) return true;
    const boot = this._boot();
    const other = otherSlot(this._running);
    this._forgotten =
      boot.images[other] === undefined || this._save({ ...without(boot, other), ...this._confirmed });
    return this._forgotten;
  }

  private _boot(): Boot {
    const none: Boot = { active: this._running, state: this._state, started: false, starts: 0, images: {} };
    try {
      return this._store.read() ?? none;
    } catch {
      return none;
    }
  }

  private _save(boot: Boot): boolean {
    try {
      this._store.write(boot);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * The record of the image in the first `length` bytes of `blocks`; undefined if `length` is invalid
 * or reading failed. `sha256`: a new digest.
 */
export const imageRecord = (blocks: Blocks, length: number, sha256: Digest): ImageRecord | undefined => {
  if (!Number.isSafeInteger(length) || length <= 0 || length > blocks.size) return undefined;
  const sector = new Uint8Array(blocks.sectorSize);
  for (let at = 0; at < length; at += sector.length) {
    const piece = sector.subarray(0, Math.min(sector.length, length - at));
    if (!blocks.read(at, piece)) return undefined;
    sha256.write(piece);
  }
  return { length, sha256: toHex(sha256.close()) };
};
