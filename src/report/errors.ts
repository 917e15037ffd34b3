/**
 * What went wrong, for programs:
 * - `BAD_OPTIONS`: options of a constructor; the message names every wrong one.
 * - `BAD_VALUE`: no UUID, a range that ends before it starts, filters that are no arrays of strings, an invalid timeoutMs: nothing was sent.
 * - `LOGIN`: the platform does not know this user name with this password; or with another `status` than 401 and 403: nobody logs in there.
 * - `FORBIDDEN`: 401 or 403, also after a fresh login if there can be one.
 * - `NOT_FOUND`: 404.
 * - `REFUSED`: any other answer that is none of a report; `status` says which.
 * - `BUSY`: 429 or 503 until the time limit, or asked to wait beyond it.
 * - `TIMEOUT`: not over within the time limit, or silent for longer than `idleMs`.
 * - `LOST`: no connection, one that dropped, or an answer that is not HTTP.
 * - `MALFORMED`: a 200 that holds no report, or a report that breaks off.
 * - `TOO_LARGE`: a row, or the labels, beyond `rowBytes`.
 * - `STOPPED`: closed meanwhile, or given up by the one who takes the rows.
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

/** The one class of errors of the report API's client. The message holds no secret, and nothing that a peer sent. */
export class ReportError extends Error {
  // No field: XS lets no constructor assign it, as the name of all errors is frozen.
  override get name(): string {
    return "ReportError";
  }
  readonly code: ReportErrorCode;
  /** The HTTP status that it stands for, if it came with one. */
  readonly status: number | undefined;

  constructor(code: ReportErrorCode, message: string, status?: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** What an answer that is no 200 means; `401` and `403` of a login with a password mean something else. */
export const refusal = (what: "login" | "report", status: number): ReportError => {
  if (status === 401 || status === 403)
    return new ReportError("FORBIDDEN", `${what}: the JWT is not valid, or has expired (${status})`, status);
  if (what === "login" && status < 500)
    return new ReportError("LOGIN", `${what}: no platform logs in here (${status})`, status);
  if (status === 404)
    return new ReportError("NOT_FOUND", `${what}: the platform knows no such view or API (404)`, status);
  const text =
    status === 415 ? "the platform does not take JSON here (415)" : `the platform answered ${status}`;
  return new ReportError("REFUSED", `${what}: ${text}`, status);
};
