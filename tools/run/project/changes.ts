import { statSync } from "node:fs";
import { pause } from "../../cli/stop.js";

const LOOK_MS = 300;

/** Resolves when one of the files changed or is gone: true; or false when `stop` aborts. */
export async function changed(files: readonly string[], stop: AbortSignal): Promise<boolean> {
  const dates = (): string => files.map((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs).join();
  const before = dates();
  while (!stop.aborted) {
    await pause(LOOK_MS, stop);
    if (dates() !== before) return true;
  }
  return false;
}
