import type { Blocks, Digest, Slot } from "../../src/port.js";
import { toHex } from "../../src/wire/hex.js";
import { type Boot, type ImageRecord, otherSlot, reverted, type SlotName, without } from "./boot.js";

/** Where the boot record lies. */
export interface BootStore {
  /** Undefined if there is none. Throws for one that can't be read, which is kept. */
  read(): Boot | undefined;
  /** Durable on return. Throws. */
  write(boot: Boot): void;
}

/** What keeps the slots: sectors of their own, which can be given back. */
export interface ClosableBlocks extends Blocks {
  close(): void;
}

/**
 * The slot that does not run, beside the record of which one starts next. While the running image is pending, and once another was activated,
 * nothing can be written: the one is the way back, the other the way on.
 */
export class TwoSlots implements Slot {
  readonly size: number;
  readonly sectorSize: number;
  readonly #store: BootStore;
  readonly #running: SlotName;
  readonly #blocks: ClosableBlocks;
  readonly #sha256: () => Digest;
  #state: "confirmed" | "pending";
  #activated = false;
  // The record of what was in the slot before is taken out before the first byte changes.
  #forgotten = false;

  /** `open` gives the sectors of a slot. Throws what it and `store.read` throw. */
  constructor(store: BootStore, open: (name: SlotName) => ClosableBlocks, sha256: () => Digest) {
    const boot = store.read();
    this.#store = store;
    this.#running = boot?.active ?? "a";
    this.#state = boot?.state ?? "confirmed";
    this.#blocks = open(otherSlot(this.#running));
    this.#sha256 = sha256;
    this.size = this.#blocks.size;
    this.sectorSize = this.#blocks.sectorSize;
  }

  read(at: number, into: Uint8Array): boolean {
    return this.#blocks.read(at, into);
  }

  write(at: number, bytes: Uint8Array): boolean {
    return this.#writable() && this.#blocks.write(at, bytes);
  }

  erase(at: number): boolean {
    return this.#writable() && this.#blocks.erase(at);
  }

  state(): "confirmed" | "pending" {
    return this.#state;
  }

  activate(length: number): boolean {
    if (!this.#writable()) return false;
    const image = imageRecord(this.#blocks, length, this.#sha256());
    if (!image) return false;
    const next = otherSlot(this.#running);
    const boot = this.#boot();
    const images = { ...boot.images, [next]: image };
    this.#activated = this.#save({ ...boot, active: next, state: "pending", started: false, images });
    return this.#activated;
  }

  confirm(): boolean {
    if (this.#state === "confirmed") return true;
    if (!this.#save({ ...this.#boot(), active: this.#running, state: "confirmed", started: false }))
      return false;
    this.#state = "confirmed";
    return true;
  }

  revert(): boolean {
    if (this.#state !== "pending") return false;
    const boot = reverted({ ...this.#boot(), active: this.#running });
    return boot !== undefined && this.#save(boot);
  }

  close(): void {
    this.#blocks.close();
  }

  #writable(): boolean {
    if (this.#state === "pending" || this.#activated) return false;
    if (this.#forgotten) return true;
    const boot = this.#boot();
    const other = otherSlot(this.#running);
    this.#forgotten = boot.images[other] === undefined || this.#save(without(boot, other));
    return this.#forgotten;
  }

  #boot(): Boot {
    const none: Boot = { active: this.#running, state: this.#state, started: false, images: {} };
    try {
      return this.#store.read() ?? none;
    } catch {
      return none;
    }
  }

  #save(boot: Boot): boolean {
    try {
      this.#store.write(boot);
      return true;
    } catch {
      return false;
    }
  }
}

/** The record of the first `length` bytes of `blocks`, by a fresh SHA-256; undefined if they cannot be read or are none. */
export function imageRecord(blocks: Blocks, length: number, sha256: Digest): ImageRecord | undefined {
  if (!Number.isSafeInteger(length) || length <= 0 || length > blocks.size) return undefined;
  const sector = new Uint8Array(blocks.sectorSize);
  for (let at = 0; at < length; at += sector.length) {
    const piece = sector.subarray(0, Math.min(sector.length, length - at));
    if (!blocks.read(at, piece)) return undefined;
    sha256.write(piece);
  }
  return { length, sha256: toHex(sha256.close()) };
}
