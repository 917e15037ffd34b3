import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { readIfThere, replaceFile } from "./files.js";

const FIT = /^[A-Za-z0-9-]{1,32}$/;

/**
 * Twelve random hex digits, created at the first start and stored in the state directory. Throws if
 * they cannot be stored.
 */
export function hardwareId(stateDir: string): string {
  const path = join(stateDir, "hardware-id");
  const kept = readIfThere(path)?.toString().trim();
  if (kept && FIT.test(kept)) return kept;
  const made = randomBytes(6).toString("hex");
  replaceFile(path, Buffer.from(`${made}\n`));
  return made;
}
