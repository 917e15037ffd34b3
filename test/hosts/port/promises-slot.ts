import type { Slot } from "../../../src/port.js";
import { check, pattern, same, sameBytes } from "./check.js";
import type { Promised } from "./promised.js";

/** Sector 0 last, as an update does; the others from the back, as it need not. */
function fill(slot: Slot, image: Uint8Array): void {
  const { sectorSize } = slot;
  const last = Math.ceil(image.length / sectorSize) - 1;
  check(slot.erase(0), "erase sector 0");
  for (let sector = last; sector > 0; sector--) put(slot, image, sector * sectorSize, true);
  put(slot, image, 0, false);
}

function put(slot: Slot, image: Uint8Array, at: number, erase: boolean): void {
  if (erase) check(slot.erase(at), `erase at ${at}`);
  const end = Math.min(image.length, at + slot.sectorSize);
  const middle = at + Math.floor((end - at) / 3);
  check(slot.write(at, image.subarray(at, middle)), `write at ${at}`);
  check(slot.write(middle, image.subarray(middle, end)), `write at ${middle}`);
}

function contents(slot: Slot, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += slot.sectorSize) {
    check(slot.read(at, bytes.subarray(at, at + slot.sectorSize)), `read at ${at}`);
  }
  return bytes;
}

/** Its first byte is that of an ESP32's images: a host may look. */
const imageFor = (slot: Slot): Uint8Array => pattern(3 * slot.sectorSize + 100, 0xe9);

function isInSlot(slot: Slot, image: Uint8Array): boolean {
  const bytes = contents(slot, image.length);
  return bytes.every((byte, i) => byte === image[i]);
}

export const slotPromises: readonly Promised[] = [
  {
    title: "slot: written in any order of sectors it reads back as written",
    run({ slot }) {
      const image = imageFor(slot);
      fill(slot, image);
      sameBytes(contents(slot, image.length), image, "image");
    },
  },
  {
    title: "slot: lengths that are no image cannot be activated",
    run({ slot }) {
      fill(slot, imageFor(slot));
      same(slot.activate(0), false, "0 bytes");
      same(slot.activate(slot.size + 1), false, "more than the slot");
    },
  },
  {
    title: "slot: of a confirmed image there is nothing to revert, and confirming it again succeeds",
    run({ slot }) {
      same(slot.state(), "confirmed", "state");
      same(slot.revert(), false, "revert");
      same(slot.confirm(), true, "confirm");
    },
  },
  {
    title: "slot: an activated image runs after the restart, pending, and stays once it was confirmed",
    needs: "restart",
    async run({ slot }, tools) {
      const image = imageFor(slot);
      fill(slot, image);
      check(slot.activate(image.length), "activate");
      same(slot.state(), "confirmed", "state of the running image");
      const pending = (await tools.restart()).slot;
      same(pending.state(), "pending", "state after the restart");
      same(isInSlot(pending, image), false, "the new image is still in the slot that does not run");
      check(pending.confirm(), "confirm");
      same(pending.state(), "confirmed", "state at once");
      const after = (await tools.restart()).slot;
      same(after.state(), "confirmed", "state after the restart");
      same(isInSlot(after, image), false, "the new image does not run");
    },
  },
  {
    title: "slot: a pending image is given up by a revert, or at the next restart",
    needs: "restart",
    async run({ slot }, tools) {
      const image = imageFor(slot);
      let running = slot;
      for (const isReverted of [false, true]) {
        fill(running, image);
        running.activate(image.length);
        const pending = (await tools.restart()).slot;
        if (isReverted) check(pending.revert(), "revert");
        running = (await tools.restart()).slot;
        same(running.state(), "confirmed", "state");
        same(isInSlot(running, image), true, "the new image is in the slot that does not run");
      }
    },
  },
  {
    title: "slot: what was written before a restart is still there, and can be gone on with",
    needs: "restart",
    async run({ slot }, tools) {
      const image = imageFor(slot);
      const { sectorSize } = slot;
      slot.erase(0);
      put(slot, image, sectorSize, true);
      const after = (await tools.restart()).slot;
      for (const sector of [2, 3]) put(after, image, sector * sectorSize, true);
      put(after, image, 0, false);
      sameBytes(contents(after, image.length), image, "image");
      same(after.activate(image.length), true, "activate");
    },
  },
];
