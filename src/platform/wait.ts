import { MoteError } from "../errors.js";
import type { Clock } from "../port.js";

/**
 * The parts of `AbortSignal` that the agent uses. Any such object works, because XS has no
 * `AbortSignal`.
 */
export interface AbortSignalLike {
  /** True once aborted. */
  readonly aborted: boolean;
  /** Calls `listener` when aborted. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Undoes `addEventListener`. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** Options of calls that wait. */
export interface WaitOptions {
  /**
   * Time limit of the whole call in ms, 0 to 20 days; then it rejects with `TIMEOUT`. Default
   * 30,000.
   */
  readonly timeoutMs?: number | undefined;
  /** Aborts the call, which rejects with `ABORTED`. */
  readonly signal?: AbortSignalLike | undefined;
}

/** Throws `BAD_VALUE` unless `signal` is absent or has the methods of an `AbortSignal`. */
export const checkSignal = (signal: AbortSignalLike | undefined): void => {
  if (signal === undefined) return;
  const isSignal =
    typeof signal === "object" &&
    signal !== null &&
    typeof signal.addEventListener === "function" &&
    typeof signal.removeEventListener === "function";
  if (!isSignal) throw new MoteError("BAD_VALUE", "invalid signal: expected an AbortSignal");
};

export const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Time limit of a request and its answer, in ms. A server answers 503 after 30 or 31 s if it has no
 * answer.
 */
export const EXCHANGE_MS = 35_000;

/** A host's timer is limited to 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/** Throws `BAD_VALUE` unless `timeoutMs` is a number from 0 to 20 days. */
export const checkTimeout = (timeoutMs: number): void => {
  if (typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= LONGEST_MS) return;
  throw new MoteError("BAD_VALUE", "invalid timeoutMs: expected a number of ms, 0 to 20 days");
};

/** Waits `ms`; without it, only lets other work run. */
export const pause = (clock: Clock, ms = 0): Promise<void> => {
  return new Promise((resolve) => {
    clock.timer(ms, resolve);
  });
};
