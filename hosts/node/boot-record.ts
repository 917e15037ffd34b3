// The boot record of a state directory: one small file, replaced as a whole.
import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Boot, bootText, parseBoot, type SlotName } from "../shared/boot-slots/boot-record.js";
import { type Fence, readIfThere, replaceFile, syncDirectory } from "./files.js";

/** Where the slots of a state directory are. */
export const slotPath = (stateDir: string, name: SlotName): string => join(stateDir, "slots", `${name}.bin`);

const bootPath = (stateDir: string): string => join(stateDir, "boot.json");

/** Undefined if nothing was ever put in. Throws for a record that this version cannot read: it is kept. */
export function readBoot(stateDir: string): Boot | undefined {
  const bytes = readIfThere(bootPath(stateDir));
  if (!bytes) return undefined;
  const boot = parseBoot(bytes.toString());
  if (!boot) throw new Error(`${bootPath(stateDir)} has a format that this version cannot read`);
  return boot;
}

/**
 * Sets a record that is no JSON at all aside, as `boot.json.damaged`; true if it did. One of another version stays: it can be read
 * by that version. Throws.
 */
export function setDamagedAside(stateDir: string, fence: Fence): boolean {
  const path = bootPath(stateDir);
  const bytes = readIfThere(path);
  if (!bytes || isJson(bytes.toString()) || !fence.holds()) return false;
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
export function writeBoot(stateDir: string, boot: Boot, fence: Fence): void {
  replaceFile(bootPath(stateDir), Buffer.from(bootText(boot)), fence);
}
