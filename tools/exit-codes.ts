// Exit codes of `mote`. Those of its worker process mean nothing.
export { IN_USE } from "../hosts/node/exit.js";

/** Stopped as requested. */
export const STOPPED = 0;
/** An internal failure. */
export const FAILED = 1;
/** Wrong usage: arguments or environment. */
export const USAGE = 2;
/** The platform refused a login, a permission, a view, or (with `--exit-on-refusal`) the device. */
export const REFUSED = 3;
/** No such device, no answer to an RPC, or a failed update. */
export const UNANSWERED = 4;
/** The device answered an RPC with an error. */
export const ANSWERED_ERROR = 5;
/** The report has no rows. */
export const EMPTY = 6;
/** The platform was busy until the deadline. */
export const BUSY = 7;
/** Stored state is damaged or incomplete; nothing was changed. */
export const DAMAGED = 8;
/** The queue file is unreadable, or the disk is full (sysexits: EX_IOERR). */
export const QUEUE = 74;
/** Interrupted by a signal. */
export const INTERRUPTED = 130;
