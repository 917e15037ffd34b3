/**
 * Error codes for programs.
 * - `BAD_OPTIONS`: invalid constructor options; the message names each one.
 * - `BAD_VALUE`: an invalid UUID, range, filter or timeoutMs; nothing was sent.
 * - `LOGIN`: wrong user name or password; with a `status` other than 401 and 403: the server has no
 *   login.
 * - `FORBIDDEN`: 401 or 403, even after a fresh login if one is possible.
 * - `NOT_FOUND`: 404.
 * - `REFUSED`: any other answer that is not a report, see `status`. Redirects are not followed.
 * - `BUSY`: 429 or 503 until the time limit, or a requested wait beyond it.
 * - `TIMEOUT`: not complete within the time limit, silent for longer than `idleMs`, or no answer
 *   within the 5 minutes that Node's `fetch` waits for one.
 * - `LOST`: no connection, a dropped connection, or an answer that is not HTTP.
 * - `MALFORMED`: a 200 without a report or token, or an incomplete report.
 * - `TOO_LARGE`: a row, or the labels, beyond `rowBytes`.
 * - `STOPPED`: closed meanwhile, or aborted by the row taker.
 */
export type ReportErrorCode =
  | "BAD_OPTIONS"
  | "BAD_VALUE"
  | "LOGIN"
  | "FORBIDDEN"
  | "NOT_FOUND"
  | "REFUSED"
  | "BUSY"
  | "TIMEOUT"
  | "LOST"
  | "MALFORMED"
  | "TOO_LARGE"
  | "STOPPED";

/**
 * The only error class of the report client. Messages contain no secrets and no data of the peer.
 */
export class ReportError extends Error {
  override readonly name = "ReportError";
  readonly code: ReportErrorCode;
  /** The HTTP status that caused the error, if there is one. */
  readonly status: number | undefined;

  constructor(code: ReportErrorCode, message: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** The kind of a request, which begins each message. */
export type Purpose = "login" | "report";

/** Maps an answer other than 200 to an error. */
export function refusal(what: Purpose, status: number): ReportError {
  if (status === 401 || status === 403)
    return new ReportError("FORBIDDEN", `${what}: the JWT is invalid or has expired (${status})`, status);
  if (what === "login" && status < 500)
    return new ReportError("LOGIN", `${what}: no login service at this URL (${status})`, status);
  if (status === 404)
    return new ReportError("NOT_FOUND", `${what}: the platform has no such view or API (404)`, status);
  const text =
    status === 415 ? "the platform does not accept JSON here (415)" : `the platform answered ${status}`;
  return new ReportError("REFUSED", `${what}: ${text}`, status);
}
