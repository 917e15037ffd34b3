// When a device of a fleet begins a new update.
import { share } from "../../platform/backoff.js";
import type { Host } from "../../port.js";
import type { UpdateJournal } from "./update-journal.js";

/** ms until the update may begin: drawn once from 0 to `spreadMs`, and kept over restarts. 0 for one that began before. */
export const spreadWait = (host: Host, spreadMs: number | undefined, journal: UpdateJournal): number => {
  const { state, record } = journal;
  if (!spreadMs || !record || state !== "idle") return 0;
  const now = Math.floor(host.clock.wall() ?? host.clock.now());
  // It is too long for a clock that was set back, and for one that counts from this start on.
  if (record.at > 0 && record.at - now <= spreadMs) return Math.max(0, record.at - now);
  const wait = Math.floor(spreadMs * share(host));
  journal.keep({ at: now + wait });
  return wait;
};
