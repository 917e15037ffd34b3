// Stores title and version of an image for recovery mode, which does not evaluate the image. Each
// slot has its own: the previous image may crash while it loads, after a rollback.

import type { SlotName } from "../../hosts/device/boot-slots/boot-record.js";
import type { Host } from "../../src/index.js";
import { readStored, writeStored } from "../../src/store.js";
import { isObject } from "../../src/wire/text/json.js";
import type { Image } from "./image.js";

const keyOf = (slot: SlotName): string => `image-${slot}`;

/** Stores title, version and every other option that is data. `sha256` names the image. */
export function storeImageInfo(
  host: Host,
  slot: SlotName,
  sha256: string,
  firmware: Image["firmware"],
): void {
  const entry = JSON.stringify({ sha256, firmware });
  if (JSON.stringify(readStored(host, keyOf(slot))) !== entry)
    writeStored(host, keyOf(slot), JSON.parse(entry));
}

/** As stored of that image; undefined if it was never loaded. */
export function storedImageInfo(host: Host, slot: SlotName, sha256: string): Image["firmware"] | undefined {
  const stored = readStored(host, keyOf(slot));
  if (!isObject(stored) || stored.sha256 !== sha256 || !isObject(stored.firmware)) return undefined;
  const { title, version } = stored.firmware;
  return typeof title === "string" && typeof version === "string"
    ? (stored.firmware as unknown as Image["firmware"])
    : undefined;
}
