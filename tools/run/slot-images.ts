// Installs images in slots and extracts them to be run, while no worker runs.
import { createHash } from "node:crypto";
import { closeSync, fsyncSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ImageRecord,
  otherSlot,
  type SlotName,
  without,
} from "../../hosts/device/boot-slots/boot-record.js";
import { imageRecord } from "../../hosts/device/boot-slots/boot-slots.js";
import { FileBlocks, SECTOR } from "../../hosts/node/blocks.js";
import { readBoot, slotPath, writeBoot } from "../../hosts/node/boot-record.js";
import { sha256 } from "../../hosts/node/digest.js";
import {
  createFile,
  isDiskTrouble,
  makeOwnDirectory,
  makePrivateDirectory,
  publish,
  readIfThere,
  temporaryPath,
  writeAll,
} from "../../hosts/node/files.js";

/** Size of a slot, the maximum image size in bytes. */
export const SLOT_BYTES = 128 * 1024 * 1024;

const FILE = "image.mjs";

const quiet = (): void => {};

/**
 * Installs `bytes` in the inactive slot (a if there is none) as the confirmed image of the next
 * start. False, with nothing done, if these bytes were the last installed this way: a later update
 * stays. Throws.
 */
export function flash(stateDir: string, bytes: Uint8Array, isForced = false): boolean {
  const app = createHash("sha256").update(bytes).digest("hex");
  const boot = readBoot(stateDir);
  if (boot?.app === app && !isForced) return false;
  const name = boot ? otherSlot(boot.active) : "a";
  if (boot?.images[name]) writeBoot(stateDir, without(boot, name));
  const slot = new FileBlocks(slotPath(stateDir, name), SLOT_BYTES, quiet, "slot");
  let image: ImageRecord | undefined;
  try {
    fill(slot, bytes);
    image = imageRecord(slot, bytes.length, sha256());
  } finally {
    slot.close();
  }
  if (image?.sha256 !== app) throw new Error("the image could not be written to its slot");
  const images = { ...boot?.images, [name]: image };
  writeBoot(stateDir, { active: name, state: "confirmed", started: false, starts: 0, images, app });
  return true;
}

/**
 * Writes the slot's image to an importable file. Undefined if it is not the recorded one. On a full
 * or read-only disk, returns the file of the last start if it is that image; otherwise one in the
 * system's directory for temporary files. Throws.
 */
export function unpack(stateDir: string, name: SlotName, image: ImageRecord): string | undefined {
  const directory = join(stateDir, "run");
  try {
    return unpackTo(directory, stateDir, name, image);
  } catch (error) {
    if (!isDiskTrouble(error)) throw error;
    const path = join(directory, FILE);
    if (holds(path, image)) return path;
    const id = createHash("sha256").update(stateDir).digest("hex").slice(0, 16);
    const ours = join(tmpdir(), `mote-${id}`);
    makePrivateDirectory(ours);
    return unpackTo(ours, stateDir, name, image);
  }
}

function unpackTo(
  directory: string,
  stateDir: string,
  name: SlotName,
  image: ImageRecord,
): string | undefined {
  makeOwnDirectory(directory);
  const path = join(directory, FILE);
  const aside = temporaryPath(path);
  try {
    if (!extract(slotPath(stateDir, name), image, aside)) return undefined;
    publish(aside, path);
    return path;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** False if the slot does not contain that image. Throws. */
function extract(from: string, image: ImageRecord, to: string): boolean {
  const slot = new FileBlocks(from, SLOT_BYTES, quiet, "slot");
  try {
    const file = createFile(to);
    try {
      if (image.length > slot.size || copy(slot, image.length, file) !== image.sha256) return false;
      fsyncSync(file);
      return true;
    } finally {
      closeSync(file);
    }
  } finally {
    slot.close();
  }
}

function holds(path: string, { length, sha256 }: ImageRecord): boolean {
  const bytes = readIfThere(path);
  return bytes?.length === length && createHash("sha256").update(bytes).digest("hex") === sha256;
}

function fill(slot: FileBlocks, bytes: Uint8Array): void {
  if (bytes.length === 0) throw new Error("the image is empty");
  if (bytes.length > slot.size) throw new Error(`the image has ${bytes.length} bytes, a slot ${slot.size}`);
  for (let at = 0; at < bytes.length; at += SECTOR) {
    if (!slot.erase(at) || !slot.write(at, bytes.subarray(at, at + SECTOR))) {
      throw new Error("the image could not be written to its slot");
    }
  }
}

/** The SHA-256 of the copied bytes. */
function copy(slot: FileBlocks, length: number, file: number): string | undefined {
  const hash = createHash("sha256");
  const sector = new Uint8Array(SECTOR);
  for (let at = 0; at < length; at += SECTOR) {
    const piece = sector.subarray(0, Math.min(SECTOR, length - at));
    if (!slot.read(at, piece)) return undefined;
    hash.update(piece);
    writeAll(file, piece, at);
  }
  return hash.digest("hex");
}
