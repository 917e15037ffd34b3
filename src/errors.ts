/**
 * Error codes for programs.
 * - `BAD_OPTIONS`: invalid constructor options; the message names each one.
 * - `BAD_VALUE`: an argument that is not an object, an invalid key, time stamp or parameter. In the
 *   event `error` also a value that was left out because JSON or the platform cannot hold it.
 * - `TOO_LARGE`: an answer or call exceeds its limit. In the event `error` also a value that was
 *   left out because it is too large.
 * - `TIMEOUT`: no answer of the platform within `timeoutMs`.
 * - `ABORTED`: the caller's `signal` aborted the call.
 * - `REFUSED`: the platform refused (`status` in the message).
 * - `STOPPED`: the agent was stopped meanwhile or is not started.
 * - `BUSY`: `runOnce` while the agent is started, or `start` during `runOnce`.
 * - `STORE_FAILED`: the host could not store or delete a value.
 * - `BAD_PARAMS`: thrown by an RPC handler to answer `BAD_PARAMS` with its message.
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
  | "BAD_PARAMS";

/** The only error class that the agent throws or rejects with. Messages contain no secrets. */
export class MoteError extends Error {
  // A getter, not a field: XS does not let a constructor assign the frozen name of errors.
  override get name(): string {
    return "MoteError";
  }
  /** What went wrong, for programs; the message is for people. */
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}
