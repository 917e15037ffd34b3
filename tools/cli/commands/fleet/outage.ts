// When `mote fleet` cuts the network.
import { UsageError } from "../../usage.js";

/** In milliseconds after the start. */
export interface Outage {
  fromMs: number;
  toMs: number;
}

const AFTER_MS = 30_000;

/** Throws UsageError if the outage does not end within the run. */
export function outageOf(flags: { for?: number; outage?: number; outageAfter?: number }): Outage | undefined {
  const { for: forMs, outage, outageAfter } = flags;
  if (outage === undefined) {
    if (outageAfter !== undefined) throw new UsageError("--outage-after requires --outage");
    return undefined;
  }
  const middle = forMs === undefined ? AFTER_MS : Math.min(AFTER_MS, Math.floor((forMs - outage) / 2));
  const fromMs = outageAfter ?? Math.max(0, middle);
  const toMs = fromMs + outage;
  if (forMs !== undefined && toMs >= forMs)
    throw new UsageError(
      `the outage ends after ${toMs / 1000}s but --for is ${forMs / 1000}s: shorten --outage or extend --for`,
    );
  return { fromMs, toMs };
}
