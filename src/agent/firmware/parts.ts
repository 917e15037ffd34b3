// What does the work of an update, put together.
import { ALL_KEYS, FIRMWARE_KEYS } from "../../wire/firmware.js";
import type { Events } from "../common/events.js";
import type { Link, Loop } from "../session/index.js";
import { Assignment } from "./assigned-update.js";
import type { FirmwareOptions } from "./options.js";
import { Reporter, type Reports } from "./reporter.js";
import { Ledger } from "./update-journal.js";
import { Updater } from "./updater.js";

export { FIRMWARE } from "./options.js";

export interface Parts {
  /** The shared attributes that say what is assigned. */
  readonly keys: readonly string[];
  readonly assignment: Assignment;
  readonly ledger: Ledger;
  readonly updater: Updater;
}

export function makeParts(
  link: Link,
  loop: Loop,
  options: FirmwareOptions,
  events: Events,
  reports: Reports,
): Parts | undefined {
  const keys = options.publicKey === undefined ? FIRMWARE_KEYS : ALL_KEYS;
  const assignment = new Assignment(link.host, keys);
  const reporter = new Reporter(link.host, events, reports, options);
  const ledger = new Ledger(link.host, options, reporter);
  return {
    keys,
    assignment,
    ledger,
    updater: new Updater(link, loop, options, assignment, ledger, reporter),
  };
}
