// What the exit codes of `mote` and of its worker process mean.

/** Stopped, as asked. */
export const STOPPED = 0;
/** Something broke that is not the caller's fault. */
export const FAILED = 1;
/** Wrong usage: arguments or environment. */
export const USAGE = 2;
/** The platform refuses: a login, a right, a view, or the device when `--exit-on-refusal` was given. */
export const REFUSED = 3;
/** There is no such device, it did not answer an RPC, or its update failed. */
export const UNANSWERED = 4;
/** The device answered an RPC with an error. */
export const ANSWERED_ERROR = 5;
/** A report without rows. */
export const EMPTY = 6;
/** The platform was busy until the deadline. */
export const BUSY = 7;
/** Stored state is damaged or incomplete: nothing was changed. */
export const DAMAGED = 8;
/** Another process uses the state directory, or took it over. */
export const IN_USE = 9;
/** The durable queue's file can't be read, or the disk has no room for it (sysexits' "input/output error"). */
export const QUEUE = 74;
/** Of the worker: start again (sysexits' "try again"). */
export const RESTART = 75;
/** Of the worker: the device forgot who it is; start again with what is known of it now. */
export const RESET = 76;
/** Stopped by a signal before it was done. */
export const INTERRUPTED = 130;
