import type { Host } from "../port.js";

export const FIRST_MS = 1000;
export const LONGEST_MS = 300_000;
/** However the dice fall, and if the host has none. */
const SHORTEST_MS = 100;

/**
 * How long to wait before the next attempt. The delay doubles from 1 s to 5 min, and while it grows anything up to it may come, so that
 * devices that lost the platform together do not come back together. So it is once more when it is at its longest: from then on each device
 * keeps its own place in the 5 min, give or take a tenth, and the places are spread evenly.
 *
 * An attempt that waited in vain ends for all devices at the same time. Its wait is thrown over no less than it took: else they stay in step.
 */
export class Backoff {
  private readonly _host: Pick<Host, "random">;
  private readonly _longestMs: number;
  private _grownMs = FIRST_MS;

  constructor(host: Pick<Host, "random">, longestMs = LONGEST_MS) {
    this._host = host;
    this._longestMs = longestMs;
  }

  /** ms, whole, 100 to 330,000, or a tenth more than `longestMs`. `tookMs`: so long the attempt waited in vain. */
  next(tookMs = 0): number {
    const ms = delay(this._host, this._grownMs, this._longestMs, tookMs);
    this._grownMs = grown(this._grownMs, this._longestMs);
    return ms;
  }

  /** The next delay is a short one again. */
  reset(): void {
    this._grownMs = FIRST_MS;
  }
}

/** As `Backoff.next`, for who keeps `grownMs` himself: `FIRST_MS`, and after each delay what `grown` makes of it. */
export const delay = (host: Pick<Host, "random">, grownMs: number, longestMs: number, tookMs = 0): number => {
  const share = thrown(host);
  const ms =
    grownMs >= 2 * longestMs
      ? longestMs * (0.9 + 0.2 * share)
      : Math.min(longestMs, Math.max(grownMs, tookMs)) * share;
  return Math.max(SHORTEST_MS, Math.round(ms));
};

/** It grows on beyond the longest, to twice that: then it was thrown once at its longest. */
export const grown = (grownMs: number, longestMs: number): number =>
  grownMs >= 2 * longestMs ? grownMs : grownMs * 2;

/** 0 to 1, 1 excluded. */
const thrown = (host: Pick<Host, "random">): number => {
  // That is seldom: the buffer is not kept.
  const dice = new Uint8Array(4);
  host.random(dice);
  return (((dice[0] as number) * 256 + (dice[1] as number)) * 256 + (dice[2] as number)) / 2 ** 24;
};

/** By chance: 0 to 1, 1 excluded. */
export const share = (host: Pick<Host, "random">): number => {
  const dice = new Uint8Array(2);
  host.random(dice);
  return ((dice[0] as number) * 256 + (dice[1] as number)) / 65_536;
};
