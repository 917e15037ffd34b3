// What src/port.ts promises, as cases that any host can run. No Node in here: a host on another
// engine runs the same list.
import type { Promised } from "./promised.js";
import { closingPromises } from "./promises-closing.js";
import { slotPromises } from "./promises-slot.js";
import { storagePromises } from "./promises-storage.js";
import { timePromises } from "./promises-time.js";
import { trafficPromises } from "./promises-traffic.js";
import { valuePromises } from "./promises-values.js";

/** Also to be kept over TLS. */
export const SOCKET_PROMISES: readonly Promised[] = [...trafficPromises, ...closingPromises];

export const PROMISES: readonly Promised[] = [
  ...timePromises,
  ...storagePromises,
  ...slotPromises,
  ...valuePromises,
  ...SOCKET_PROMISES,
];
