// Stores title and version of an image for recovery mode, which does not evaluate the image.

import type { Host } from "../../src/index.js";
import { readStored, writeStored } from "../../src/store.js";
import { isObject } from "../../src/wire/text/json.js";
import type { Image } from "./image.js";

const KEY = "image";

/** Stores title, version and every other option that is data. `sha256` names the image. */
export function storeImageInfo(host: Host, sha256: string, firmware: Image["firmware"]): void {
  const entry = JSON.stringify({ sha256, firmware });
  if (JSON.stringify(readStored(host, KEY)) !== entry) writeStored(host, KEY, JSON.parse(entry));
}

/** As stored of that image; undefined if it was never loaded. */
export function storedImageInfo(host: Host, sha256: string): Image["firmware"] | undefined {
  const stored = readStored(host, KEY);
  if (!isObject(stored) || stored.sha256 !== sha256 || !isObject(stored.firmware)) return undefined;
  const { title, version } = stored.firmware;
  return typeof title === "string" && typeof version === "string"
    ? (stored.firmware as unknown as Image["firmware"])
    : undefined;
}
