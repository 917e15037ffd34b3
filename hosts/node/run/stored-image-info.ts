// What is kept of an image's own words about itself, for a start in recovery mode: then nothing of the image is evaluated, and the
// updates that it takes are still those that it would take.
import { readStored, writeStored } from "../../../src/agent/common/stored.js";
import type { Host } from "../../../src/index.js";
import { isObject } from "../../../src/wire/text/json.js";
import type { Image } from "./image.js";

const KEY = "image";

/** Keeps title, version and every other option that is data. `sha256` names the image. */
export function keepFirmware(host: Host, sha256: string, firmware: Image["firmware"]): void {
  const entry = JSON.stringify({ sha256, firmware });
  if (JSON.stringify(readStored(host, KEY)) !== entry) writeStored(host, KEY, JSON.parse(entry));
}

/** As kept of that image; undefined if it was never loaded. */
export function keptFirmware(host: Host, sha256: string): Image["firmware"] | undefined {
  const kept = readStored(host, KEY);
  if (!isObject(kept) || kept.sha256 !== sha256 || !isObject(kept.firmware)) return undefined;
  const { title, version } = kept.firmware;
  return typeof title === "string" && typeof version === "string"
    ? (kept.firmware as unknown as Image["firmware"])
    : undefined;
}
