import { MoteError } from "../errors.js";

/** For an exchange in ms: what the platform can't answer it ends with 503 after 30 or 31 s, which says more than silence. */
export const EXCHANGE_MS = 35_000;

/** A host's timer goes no further than 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/** Throws `BAD_VALUE` for what is no deadline: ms from now, 0 to 20 days. */
export const checkDeadline = (deadlineMs: number): void => {
  if (typeof deadlineMs === "number" && deadlineMs >= 0 && deadlineMs <= LONGEST_MS) return;
  throw new MoteError("BAD_VALUE", "a deadline is a number of ms, 0 to 20 days");
};
