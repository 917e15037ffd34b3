// The boot record of a state directory: one small file, replaced as a whole.
import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Boot, bootText, parseBoot, type SlotName } from "../device/boot-slots/boot-record.js";
import { readIfThere, replaceFile, syncDirectory } from "./files.js";

/** The slots of a state directory. */
export const slotPath = (stateDir: string, name: SlotName): string => join(stateDir, "slots", `${name}.bin`);

const bootPath = (stateDir: string): string => join(stateDir, "boot.json");

/**
 * Undefined if no image was ever installed. Throws for a record of another version, and keeps it.
 */
export function readBoot(stateDir: string): Boot | undefined {
  const bytes = readIfThere(bootPath(stateDir));
  if (!bytes) return undefined;
  const boot = parseBoot(bytes.toString());
  if (!boot) throw new Error(`${bootPath(stateDir)} has a format that this version cannot read`);
  return boot;
}

/**
 * Renames a record that is not JSON to `boot.json.damaged`; true if it did. A record of another
 * version is kept for that version. Throws.
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

/** Durable on return. Throws. */
export function writeBoot(stateDir: string, boot: Boot): void {
  replaceFile(bootPath(stateDir), Buffer.from(bootText(boot)));
}
