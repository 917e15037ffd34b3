// Aborting calls: an `AbortSignal`, or what looks like one.

import { MoteError } from "../errors.js";

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
