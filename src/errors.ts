/**
 * What went wrong, for programs:
 * - `BAD_OPTIONS`: options of the constructor; the message names every wrong one.
 * - `BAD_VALUE`: a value, key, time stamp or argument that JSON or the platform can't hold; nothing was kept.
 * - `TOO_LARGE`: it fits nowhere: a point beyond the outbox's batch limit, pending attributes beyond their bound.
 * - `TIMEOUT`: no answer of the platform within `timeoutMs`.
 * - `ABORTED`: the caller's `signal` ended the call.
 * - `REFUSED`: the platform answered and refused (`status` in the message).
 * - `STOPPED`: the agent was stopped meanwhile, or is not started.
 * - `BUSY`: `runOnce` of an agent that is started, or `start` during a `runOnce`.
 * - `STORE_FAILED`: the host could not store what had to be, or not forget it.
 * - `LEFT_OUT`: the lean build of a board (manifest-lean.json) has no such call.
 * - `BAD_PARAMS`: for an RPC handler to throw: its caller is answered `BAD_PARAMS` with the message.
 */
export type ErrorCode =
  | "BAD_OPTIONS"
  | "BAD_VALUE"
  | "TOO_LARGE"
  | "TIMEOUT"
  | "ABORTED"
  | "REFUSED"
  | "STOPPED"
  | "BUSY"
  | "STORE_FAILED"
  | "LEFT_OUT"
  | "BAD_PARAMS";

/** The one class of errors that the agent throws or rejects with. The message holds no secret. */
export class MoteError extends Error {
  // No field: XS lets no constructor assign it, as the name of all errors is frozen.
  override get name(): string {
    return "MoteError";
  }
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** For what the lean build lacks. */
export const leftOut = (what: string): MoteError =>
  new MoteError("LEFT_OUT", `${what} is left out of this build`);
