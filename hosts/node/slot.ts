import { createHash } from "node:crypto";
import type { Slot } from "../../src/port.js";
import { FileBlocks, SECTOR } from "./blocks.js";
import {
  type Boot,
  type ImageRecord,
  otherSlot,
  readBoot,
  reverted,
  type SlotName,
  slotPath,
  writeBoot,
} from "./boot.js";

/**
 * The slot that does not run, in a file of its own; boot.json says which one starts next.
 * While the running image is pending, and once another was activated, nothing can be written: the one is the way back,
 * the other the way on.
 */
export class FileSlot implements Slot {
  readonly size: number;
  readonly sectorSize = SECTOR;
  readonly #stateDir: string;
  readonly #running: SlotName;
  readonly #blocks: FileBlocks;
  #state: "confirmed" | "pending";
  #activated = false;
  // The record of what was in the slot before is taken out before the first byte changes.
  #forgotten = false;

  constructor(stateDir: string, size: number, tell: (line: string) => void) {
    const boot = readBoot(stateDir);
    this.#stateDir = stateDir;
    this.#running = boot?.active ?? "a";
    this.#state = boot?.state ?? "confirmed";
    this.#blocks = new FileBlocks(slotPath(stateDir, otherSlot(this.#running)), size, tell);
    this.size = this.#blocks.size;
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
    const image = imageRecord(this.#blocks, length);
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
    const { [otherSlot(this.#running)]: before, ...images } = boot.images;
    this.#forgotten = before === undefined || this.#save({ ...boot, images });
    return this.#forgotten;
  }

  #boot(): Boot {
    const none: Boot = { active: this.#running, state: this.#state, started: false, images: {} };
    try {
      return readBoot(this.#stateDir) ?? none;
    } catch {
      return none;
    }
  }

  #save(boot: Boot): boolean {
    try {
      writeBoot(this.#stateDir, boot);
      return true;
    } catch {
      return false;
    }
  }
}

/** The record of the first `length` bytes of `blocks`; undefined if they cannot be read or are none. */
export function imageRecord(blocks: FileBlocks, length: number): ImageRecord | undefined {
  if (!Number.isSafeInteger(length) || length <= 0 || length > blocks.size) return undefined;
  const hash = createHash("sha256");
  const sector = new Uint8Array(SECTOR);
  for (let at = 0; at < length; at += SECTOR) {
    const piece = sector.subarray(0, Math.min(SECTOR, length - at));
    if (!blocks.read(at, piece)) return undefined;
    hash.update(piece);
  }
  return { length, sha256: hash.digest("hex") };
}
