// The boot loader: decides which image starts, and which never starts again.

import {
  type Boot,
  otherSlot,
  reverted,
  type SlotName,
  without,
} from "../../hosts/device/boot-slots/boot-record.js";
import { readBoot, writeBoot } from "../../hosts/node/boot-record.js";
import { isDiskTrouble } from "../../hosts/node/files.js";
import { unpack } from "./slot-images.js";

export interface Start {
  /** The module to import. */
  path: string;
  slot: SlotName;
  state: "confirmed" | "pending";
  /** Of the image. */
  sha256: string;
  /** The image came by `--app`, not by an update. */
  isFlashed: boolean;
}

/**
 * Called for each image that does not start. `failed`: ended unconfirmed; `damaged`: bytes changed;
 * `unstorable`: on trial, and the disk cannot store that it starts.
 */
export type OnFallback = (slot: SlotName, why: "failed" | "damaged" | "unstorable") => void;

/** A trial that was stopped so often before its end is over: a stop proves nothing about it. */
const MAX_STARTS = 5;

/**
 * The image to start now. A pending one is marked as started before this returns. Found marked at
 * the next call, or started five times, it is rejected and the device rolls back. Where the disk
 * cannot store that, the previous image starts and the record stays. Undefined if no slot contains
 * an intact image. Throws.
 */
export function prepareStart(stateDir: string, onFallback: OnFallback): Start | undefined {
  const boot = readBoot(stateDir);
  const before = boot?.state === "pending" ? reverted(boot) : undefined;
  try {
    return boot && prepareStored(stateDir, boot, before, onFallback);
  } catch (error) {
    const image = before?.images[before.active];
    if (!boot || !before || !image || !isDiskTrouble(error)) throw error;
    const path = unpack(stateDir, before.active, image);
    if (path === undefined) throw error;
    onFallback(boot.active, "unstorable");
    return startOf(before, path, image.sha256);
  }
}

/** `before`: the record after a rollback, if the active image is pending. */
function prepareStored(
  stateDir: string,
  found: Boot,
  before: Boot | undefined,
  onFallback: OnFallback,
): Start | undefined {
  let boot: Boot | undefined = found;
  if (before && (found.started || found.starts >= MAX_STARTS)) {
    boot = storeBoot(stateDir, before);
    onFallback(found.active, "failed");
  }
  // At most twice: the active slot, then the other.
  for (let tries = 0; boot && tries < 2; tries++) {
    const image = boot.images[boot.active];
    const path = image && unpack(stateDir, boot.active, image);
    if (image && path !== undefined) {
      if (boot.state === "pending") storeBoot(stateDir, { ...boot, started: true, starts: boot.starts + 1 });
      return startOf(boot, path, image.sha256);
    }
    onFallback(boot.active, "damaged");
    const other: Boot = {
      ...without(boot, boot.active),
      active: otherSlot(boot.active),
      state: "confirmed",
      started: false,
      starts: 0,
    };
    boot = other.images[other.active] && storeBoot(stateDir, other);
  }
  return undefined;
}

/** The agent stopped on request: a pending image gets another start, but not without end. */
export function forgetStart(stateDir: string): void {
  const boot = readBoot(stateDir);
  if (boot?.state === "pending" && boot.started) storeBoot(stateDir, { ...boot, started: false });
}

function startOf(boot: Boot, path: string, sha256: string): Start {
  return { path, slot: boot.active, state: boot.state, sha256, isFlashed: boot.app === sha256 };
}

function storeBoot(stateDir: string, boot: Boot): Boot {
  writeBoot(stateDir, boot);
  return boot;
}
