import type { Host } from "../port.js";

export const FIRST_MS = 1000;
export const LONGEST_MS = 300_000;
/** Lower bound, even if random() returns zeros. */
const MIN_MS = 100;

/**
 * The delay before the next attempt.
 *
 * Its ceiling doubles from 1 s to 5 min. While the ceiling grows, the delay is random up to it, so
 * that devices that lost the platform together return spread out. The first delay at the maximum is
 * random too. After that, each delay is 5 min ± 10 %, and the devices stay spread out.
 *
 * An attempt that timed out ends for all devices at the same time. So its delay is random over at
 * least the time-out; otherwise the devices stay in step.
 */
export class Backoff {
  private readonly _host: Pick<Host, "random">;
  private readonly _longestMs: number;
  private _grownMs = FIRST_MS;

  constructor(host: Pick<Host, "random">, longestMs = LONGEST_MS) {
    this._host = host;
    this._longestMs = longestMs;
  }

  /**
   * The delay in whole ms: 100 to 330,000, or up to `longestMs` + 10 %. `tookMs`: time that the
   * attempt waited before it timed out.
   */
  next(tookMs = 0): number {
    const ms = delay(this._host, this._grownMs, this._longestMs, tookMs);
    this._grownMs = grown(this._grownMs, this._longestMs);
    return ms;
  }

  /** Makes the next delay short again. */
  reset(): void {
    this._grownMs = FIRST_MS;
  }
}

/**
 * Like `Backoff.next` for a caller that stores `grownMs` itself: `FIRST_MS` at first, then the
 * result of `grown`.
 */
export const delay = (host: Pick<Host, "random">, grownMs: number, longestMs: number, tookMs = 0): number => {
  const fraction = random24(host);
  const ms =
    grownMs >= 2 * longestMs
      ? longestMs * (0.9 + 0.2 * fraction)
      : Math.min(longestMs, Math.max(grownMs, tookMs)) * fraction;
  return Math.max(MIN_MS, Math.round(ms));
};

/** Grows to twice the maximum, which marks that a delay at the maximum was used once. */
export const grown = (grownMs: number, longestMs: number): number =>
  grownMs >= 2 * longestMs ? grownMs : grownMs * 2;

/** A random number from 0 to 1 (exclusive), with 24 bits. */
const random24 = (host: Pick<Host, "random">): number => {
  // Calls are rare, so the buffer is not kept.
  const bytes = new Uint8Array(4);
  host.random(bytes);
  return (((bytes[0] as number) * 256 + (bytes[1] as number)) * 256 + (bytes[2] as number)) / 2 ** 24;
};

/** A random number from 0 to 1 (exclusive), with 16 bits. */
export const random01 = (host: Pick<Host, "random">): number => {
  const bytes = new Uint8Array(2);
  host.random(bytes);
  return ((bytes[0] as number) * 256 + (bytes[1] as number)) / 65_536;
};
