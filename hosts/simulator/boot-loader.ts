// The boot loader of a project's program, which has no supervisor. Every image starts the same
// program, under the title and version that the image states.

import type { Files } from "embedded:storage/files";
import { Digest as NativeDigest } from "crypt";
import type { Digest, Host } from "../../src/port.js";
import { toHex } from "../../src/wire/crypto/hex.js";
import { type Boot, otherSlot, reverted, type SlotName, without } from "../device/boot-slots/boot-record.js";
import { imageRecord } from "../device/boot-slots/boot-slots.js";
import { digester } from "../moddable/digest.js";
import { decode, encode } from "../moddable/text.js";
import { FileBlocks, SECTOR } from "./blocks.js";
import { bootStore } from "./boot.js";

export interface Image {
  readonly title: string;
  readonly version: string;
}

const KIB = 1024;
export const SLOT = 8 * KIB * KIB;
/** A trial that was stopped so often before its end is over. */
const MAX_STARTS = 5;

/**
 * The image that starts now. `built`: what the program was built as; a new build replaces the
 * running image, as flashing a board does. An image on trial starts once: if it did not confirm
 * itself, or is not an image for the simulator, the previous one starts. Throws if files fail.
 */
export const startImage = (files: Files, built: Image, log: Host["log"]): Image => {
  files.createDirectory("slots");
  const store = bootStore(files);
  let boot = install(files, store.read(), built);
  const before = boot.state === "pending" ? reverted(boot) : undefined;
  if (before && (boot.started || boot.starts >= MAX_STARTS)) {
    log("warn", `the image in slot ${boot.active} did not confirm itself: slot ${before.active} starts`);
    boot = before;
  }
  let image = imageIn(files, boot.active);
  if (!image) {
    log("error", `the image in slot ${boot.active} is not an image for the simulator`);
    const active = otherSlot(boot.active);
    boot = { ...without(boot, boot.active), active, state: "confirmed", started: false, starts: 0 };
    image = imageIn(files, active) ?? built;
  }
  if (boot.state === "pending") boot = { ...boot, started: true, starts: boot.starts + 1 };
  store.write(boot);
  return image;
};

/** The boot record, with `built` in a slot of its own unless it was installed last. */
const install = (files: Files, boot: Boot | undefined, built: Image): Boot => {
  const text = encode(`${JSON.stringify({ simulator: 1, title: built.title, version: built.version })}\n`);
  const name = boot ? otherSlot(boot.active) : "a";
  const slot = open(files, name);
  try {
    const digest = digester(NativeDigest);
    const sum = digest("SHA256") as Digest;
    sum.write(text);
    const app = toHex(sum.close());
    if (boot?.app === app) return boot;
    if (!slot.erase(0) || !slot.write(0, text)) throw new Error("the first image cannot be stored");
    const image = imageRecord(slot, text.length, digest("SHA256") as Digest);
    if (image?.sha256 !== app) throw new Error("the first image cannot be read");
    const images = { ...boot?.images, [name]: image };
    return { active: name, state: "confirmed", started: false, starts: 0, images, app };
  } finally {
    slot.close();
  }
};

/** Undefined if the slot's first line does not describe an image for the simulator. */
const imageIn = (files: Files, name: SlotName): Image | undefined => {
  const slot = open(files, name);
  try {
    const head = new Uint8Array(SECTOR);
    if (!slot.read(0, head)) return undefined;
    const end = head.indexOf(10);
    const { simulator, title, version } = JSON.parse(decode(head.slice(0, Math.max(0, end))) ?? "");
    return simulator === 1 && typeof title === "string" && typeof version === "string"
      ? { title, version }
      : undefined;
  } catch {
    return undefined;
  } finally {
    slot.close();
  }
};

const open = (files: Files, name: SlotName): FileBlocks => new FileBlocks(files, `slots/${name}.bin`, SLOT);
