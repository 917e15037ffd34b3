// What does the work of an update, put together.

import type { Events } from "../../events.js";
import type { Loop, PlatformSession } from "../../platform/index.js";
import { ALL_KEYS, FIRMWARE_KEYS } from "../../wire/firmware.js";
import { AssignedUpdate } from "./assigned-update.js";
import type { FirmwareOptions } from "./options.js";
import { Reporter, type Reports } from "./reporter.js";
import { isSigned } from "./signed.js";
import { UpdateJournal } from "./update-journal.js";
import { Updater } from "./updater.js";

export { FIRMWARE } from "./options.js";

export interface Parts {
  /** The shared attributes that say what is assigned. */
  readonly keys: readonly string[];
  readonly assignment: AssignedUpdate;
  readonly journal: UpdateJournal;
  readonly updater: Updater;
  isSigned(bytes: Uint8Array, signature: string): Promise<boolean>;
}

export const makeParts = (
  session: PlatformSession,
  loop: Loop,
  options: FirmwareOptions,
  events: Events,
  reports: Reports,
): Parts | undefined => {
  const keys = options.publicKey === undefined ? FIRMWARE_KEYS : ALL_KEYS;
  const assignment = new AssignedUpdate(session.host, keys);
  const reporter = new Reporter(session.host, events, reports, options);
  const journal = new UpdateJournal(session.host, options, reporter);
  return {
    keys,
    assignment,
    journal,
    updater: new Updater(session, loop, options, assignment, journal, reporter),
    isSigned: (bytes, signature) => isSigned(session.host, options.publicKey, bytes, signature),
  };
};
