// What is known of the two firmware slots: one small file, replaced as a whole.
import { renameSync } from "node:fs";
import { join } from "node:path";
import { readIfThere, replaceFile, syncDirectory } from "./files.js";

export type SlotName = "a" | "b";

/** An image in a slot: the first `length` bytes. */
export interface ImageRecord {
  length: number;
  sha256: string;
}

export interface Boot {
  /** The slot of the next start. */
  active: SlotName;
  /** `pending`: activated, and not confirmed yet. */
  state: "confirmed" | "pending";
  /** A pending image was started already: the next start falls back. Stored before the start. */
  started: boolean;
  images: { a?: ImageRecord; b?: ImageRecord };
  /** SHA-256 of the file that was put in last by `--app`. */
  app?: string;
}

const FORMAT = 1;
const HEX = /^[0-9a-f]{64}$/;

export const otherSlot = (name: SlotName): SlotName => (name === "a" ? "b" : "a");

/** Where the slots of a state directory are. */
export const slotPath = (stateDir: string, name: SlotName): string => join(stateDir, "slots", `${name}.bin`);

const bootPath = (stateDir: string): string => join(stateDir, "boot.json");

/** Undefined if nothing was ever put in. Throws for a record that this version cannot read: it is kept. */
export function readBoot(stateDir: string): Boot | undefined {
  const bytes = readIfThere(bootPath(stateDir));
  if (!bytes) return undefined;
  const boot = parse(bytes.toString());
  if (!boot) throw new Error(`${bootPath(stateDir)} has a format that this version cannot read`);
  return boot;
}

/**
 * Sets a record that is no JSON at all aside, as `boot.json.damaged`; true if it did. One of another version stays: it can be read
 * by that version. Throws.
 */
export function setDamagedAside(stateDir: string): boolean {
  const path = bootPath(stateDir);
  const bytes = readIfThere(path);
  if (!bytes || isJson(bytes.toString())) return false;
  renameSync(path, `${path}.damaged`);
  syncDirectory(stateDir);
  return true;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** On disk when it returns. Throws. */
export function writeBoot(stateDir: string, boot: Boot): void {
  replaceFile(
    bootPath(stateDir),
    Buffer.from(`${JSON.stringify({ format: FORMAT, ...boot }, undefined, 2)}\n`),
  );
}

/** The image before the pending one starts next, and the pending one never again. Undefined if there is none before it. */
export function reverted(boot: Boot): Boot | undefined {
  const before = otherSlot(boot.active);
  const image = boot.images[before];
  if (!image) return undefined;
  return { ...boot, active: before, state: "confirmed", started: false, images: { [before]: image } };
}

function parse(text: string): Boot | undefined {
  let value: Partial<Boot> & { format?: unknown };
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (value?.format !== FORMAT) return undefined;
  const { active, state, started, images, app } = value;
  if (active !== "a" && active !== "b") return undefined;
  if (state !== "confirmed" && state !== "pending") return undefined;
  return {
    active,
    state,
    started: started === true,
    images: { ...imageOf("a", images?.a), ...imageOf("b", images?.b) },
    ...(typeof app === "string" && { app }),
  };
}

function imageOf(name: SlotName, image: ImageRecord | undefined): Boot["images"] {
  if (!image || !Number.isSafeInteger(image.length) || image.length <= 0) return {};
  if (typeof image.sha256 !== "string" || !HEX.test(image.sha256)) return {};
  return { [name]: { length: image.length, sha256: image.sha256 } };
}
