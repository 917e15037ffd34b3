// What is not to be changed by the way while an update runs.

const RUNNING = new Set(["QUEUED", "INITIATED", "DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"]);

/** Whether a device with that `fw_state` has an update before it or under way. */
export function isUpdating(state: unknown): boolean {
  return typeof state === "string" && RUNNING.has(state);
}

/** Why the attribute should be left alone now; undefined if it need not be. */
export function guardOf(scope: string, key: string, state: unknown): string | undefined {
  if (scope !== "shared" || !key.startsWith("fw_") || !isUpdating(state)) return undefined;
  return `An update runs (${String(state)}), and ${key} belongs to it: with another value the device gives it up or fails. To end the update, unassign its package.`;
}
