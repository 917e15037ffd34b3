import type { SessionWatcher } from "../../../src/platform/session.js";

const nothing = () => {};

/** A session's watcher that does nothing. */
export const SILENT: SessionWatcher = {
  asked: nothing,
  dated: nothing,
  reached: nothing,
  proven: nothing,
  unauthorized: nothing,
};
