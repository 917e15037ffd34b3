import { MoteError } from "../errors.js";

/** What the agent needs of an `AbortSignal`: any object of this shape will do, since XS has none of its own. */
export interface AbortSignalLike {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** How long a call waits, and what ends it earlier. */
export interface WaitOptions {
  /** Time for the whole call, in ms: 0 to 20 days. Then it ends with `TIMEOUT`. Default 30,000. */
  readonly timeoutMs?: number | undefined;
  /** Ends the call with `ABORTED`. */
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

/** An exchange of a request and its answer, in ms. A server ends one that it cannot answer with 503 after 30 or 31 s. */
export const EXCHANGE_MS = 35_000;

/** A host's timer goes no further than 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/** Throws `BAD_VALUE` unless `timeoutMs` is a number from 0 to 20 days. */
export const checkTimeout = (timeoutMs: number): void => {
  if (typeof timeoutMs === "number" && timeoutMs >= 0 && timeoutMs <= LONGEST_MS) return;
  throw new MoteError("BAD_VALUE", "invalid timeoutMs: expected a number of ms, 0 to 20 days");
};
