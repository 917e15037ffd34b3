import type { Files } from "embedded:storage/files";
import type { Digest, Slot } from "../../src/port.js";
import { FileBlocks, SECTOR } from "./blocks.js";
import { type Boot, otherSlot, readBoot, reverted, type SlotName, writeBoot } from "./boot.js";

/**
 * The slot that does not run, in a file of its own. While the running image is pending, and once another was activated, nothing can be written:
 * the one is the way back, the other the way on.
 */
export class FileSlot implements Slot {
  readonly size: number;
  readonly sectorSize = SECTOR;
  readonly #files: Files;
  readonly #running: SlotName;
  readonly #blocks: FileBlocks;
  readonly #sha256: () => Digest;
  #state: "confirmed" | "pending";
  #activated = false;
  // The record of what was in the slot before is taken out before the first byte changes.
  #forgotten = false;

  constructor(files: Files, size: number, sha256: () => Digest) {
    const boot = readBoot(files);
    this.#files = files;
    this.#running = boot?.active ?? "a";
    this.#state = boot?.state ?? "confirmed";
    files.createDirectory("slots");
    this.#blocks = new FileBlocks(files, `slots/${otherSlot(this.#running)}.bin`, size);
    this.#sha256 = sha256;
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
    if (!Number.isSafeInteger(length) || length <= 0 || length > this.size || !this.#writable()) return false;
    const sha256 = this.#hash(length);
    if (sha256 === undefined) return false;
    const next = otherSlot(this.#running);
    const boot = this.#boot();
    const images = { ...boot.images, [next]: { length, sha256 } };
    this.#activated = this.#save({ ...boot, active: next, state: "pending", started: false, images });
    return this.#activated;
  }

  confirm(): boolean {
    if (this.#state === "confirmed") return true;
    const boot: Boot = { ...this.#boot(), active: this.#running, state: "confirmed", started: false };
    if (!this.#save(boot)) return false;
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
    const image = boot.images[this.#running];
    const before = boot.images[otherSlot(this.#running)];
    this.#forgotten = !before || this.#save({ ...boot, images: image ? { [this.#running]: image } : {} });
    return this.#forgotten;
  }

  #hash(length: number): string | undefined {
    const digest = this.#sha256();
    const sector = new Uint8Array(SECTOR);
    for (let at = 0; at < length; at += SECTOR) {
      const piece = sector.subarray(0, Math.min(SECTOR, length - at));
      if (!this.read(at, piece)) return undefined;
      digest.write(piece);
    }
    return digest.close().toHex();
  }

  #boot(): Boot {
    return readBoot(this.#files) ?? { active: this.#running, state: this.#state, started: false, images: {} };
  }

  #save(boot: Boot): boolean {
    try {
      writeBoot(this.#files, boot);
      return true;
    } catch {
      return false;
    }
  }
}
