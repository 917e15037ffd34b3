// Warns before changes that would end a running update.
import { stateName } from "../../operator/update-state.js";

const RUNNING = new Set(["QUEUED", "INITIATED", "DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"]);

/** Whether an update is assigned or running, by `fw_state`. */
export function isUpdating(state: unknown): boolean {
  return typeof state === "string" && RUNNING.has(state);
}

/** The warning before a change of the attribute; undefined without a reason to warn. */
export function guardOf(scope: string, key: string, state: unknown): string | undefined {
  if (scope !== "shared" || !key.startsWith("fw_") || !isUpdating(state)) return undefined;
  return `An update is running (${stateName(state)}) and uses ${key}. With another value it fails. To end the update, unassign its package.`;
}
