import { MoteError } from "./errors.js";

/** A host's timer goes no further than 24 days. */
const LONGEST_MS = 20 * 86_400_000;

/** Throws `BAD_VALUE` for what is no deadline: ms from now, 0 to 20 days. */
export function checkDeadline(deadlineMs: number): void {
  if (deadlineMs >= 0 && deadlineMs <= LONGEST_MS) return;
  throw new MoteError("BAD_VALUE", "a deadline is a number of ms, 0 to 20 days");
}
