// Why an update fails, by what follows. The name is reported as `fw_error`; a detail may follow in
// parentheses.
export const FAILURES = {
  /** A retry cannot help: waits for another assignment or `retry()`. */
  final: [
    ...["invalid assignment", "incomplete assignment", "other title", "too large"],
    ...["no checksum", "no signature", "unknown checksum algorithm", "older than minimumVersion"],
    ...["invalid fw_url", "host not in urlHosts", "unsigned over http", "refused by allow"],
    ...["wrong checksum", "wrong signature", "self-test failed", "other version than assigned"],
  ],
  /** Retried from the first byte; no more after the fourth such failure. */
  restarted: [
    ...["wrong length", "no length", "compressed file", "file keeps changing"],
    ...["withdrawn", "slot not writable", "slot changed"],
  ],
  /** The same, but the bytes in the slot may be good and are not downloaded again. */
  resumed: [
    ...["no such package", "download refused", "not delivered", "redirect refused", "not bootable"],
    ...["not confirmed", "not accepted in time", "confirmation failed"],
  ],
  /** Like `resumed`, but always retried, because the image may not be at fault. */
  always: ["power lost on trial", "platform not reached"],
} as const;
export type Failure = (typeof FAILURES)[keyof typeof FAILURES][number];

/** A failure, with a detail for people, or "". */
export interface Failed {
  readonly failure: Failure;
  readonly detail: string;
}

export const failed = (failure: Failure, detail: string | number = ""): Failed => {
  return { failure, detail: `${detail}` };
};

/** True if `names`, a list of `FAILURES`, has this failure. */
export const isOneOf = (names: readonly Failure[], failure: Failure): boolean => names.includes(failure);

/**
 * Delays before the first, second and third retry; the last one repeats for failures that are
 * always retried.
 */
export const RETRY_MS = [60_000, 600_000, 3_600_000, 21_600_000] as const;
/** Maximum number of failures caused by the image itself before the update is given up. */
export const MAX_FAILURES = 3;
