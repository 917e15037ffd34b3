// The boot loader: decides which image starts, and which never starts again.

import {
  type Boot,
  otherSlot,
  reverted,
  type SlotName,
  without,
} from "../../hosts/device/boot-slots/boot-record.js";
import { readBoot, writeBoot } from "../../hosts/node/boot-record.js";
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

/** Called for each rejected image. `failed`: ended unconfirmed; `damaged`: bytes changed. */
export type OnFallback = (slot: SlotName, why: "failed" | "damaged") => void;

/** A trial that was stopped so often before its end is over: a stop proves nothing about it. */
const MAX_STARTS = 5;

/**
 * The image to start now. A pending one is marked as started before this returns. Found marked at
 * the next call, or started five times, it is rejected and the device rolls back. Undefined if no
 * slot contains an intact image. Throws.
 */
export function prepareStart(stateDir: string, onFallback: OnFallback): Start | undefined {
  let boot = readBoot(stateDir);
  if (boot?.state === "pending" && (boot.started || boot.starts >= MAX_STARTS)) {
    const before = reverted(boot);
    if (before) {
      onFallback(boot.active, "failed");
      boot = storeBoot(stateDir, before);
    }
  }
  // At most twice: the active slot, then the other.
  for (let tries = 0; boot && tries < 2; tries++) {
    const image = boot.images[boot.active];
    const path = image && unpack(stateDir, boot.active, image);
    if (image && path !== undefined) return begin(stateDir, boot, path, image.sha256);
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

function begin(stateDir: string, boot: Boot, path: string, sha256: string): Start {
  if (boot.state === "pending") storeBoot(stateDir, { ...boot, started: true, starts: boot.starts + 1 });
  return { path, slot: boot.active, state: boot.state, sha256, isFlashed: boot.app === sha256 };
}

function storeBoot(stateDir: string, boot: Boot): Boot {
  writeBoot(stateDir, boot);
  return boot;
}
