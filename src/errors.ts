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
 * - `BUSY`: `runOnce` while the agent is started, `start` during `runOnce`, or another agent on the
 *   same host.
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

/** True for a `MoteError`, also one of another copy of this class: an image may bundle its own. */
export const isMoteError = (error: unknown): error is MoteError =>
  typeof error === "object" &&
  error !== null &&
  (error as MoteError).name === "MoteError" &&
  typeof (error as MoteError).code === "string";

/**
 * Thrown by an RPC handler to answer with an error code of the application's own.
 *
 * `code`: 1 to 40 capital letters, digits and underscores, such as `LAMP_BROKEN`; with another one,
 * the answer is `HANDLER_FAILED`. `message`: for the operator, cut to 80 characters.
 */
export class RpcError extends Error {
  override get name(): string {
    return "RpcError";
  }
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

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
