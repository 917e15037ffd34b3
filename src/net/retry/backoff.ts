import type { Host } from "../../port.js";

const FIRST_MS = 1000;
const LONGEST_MS = 300_000;
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
  /** Grows on beyond the longest, to twice that: then it was thrown once at its longest. */
  private _grownMs = FIRST_MS;

  constructor(host: Pick<Host, "random">, longestMs = LONGEST_MS) {
    this._host = host;
    this._longestMs = longestMs;
  }

  /** ms, whole, 100 to 330,000, or a tenth more than `longestMs`. `tookMs`: so long the attempt waited in vain. */
  next(tookMs = 0): number {
    const longest = this._longestMs;
    const grown = this._grownMs;
    const atLongest = grown >= 2 * longest;
    if (!atLongest) this._grownMs = grown * 2;
    const share = this._throw();
    const ms = atLongest ? longest * (0.9 + 0.2 * share) : Math.min(longest, Math.max(grown, tookMs)) * share;
    return Math.max(SHORTEST_MS, Math.round(ms));
  }

  /** The next delay is a short one again. */
  reset(): void {
    this._grownMs = FIRST_MS;
  }

  /** 0 to 1, 1 excluded. */
  private _throw(): number {
    // An agent has a dozen of these, and throws seldom: the buffer is not kept.
    const dice = new Uint8Array(4);
    this._host.random(dice);
    return (((dice[0] as number) * 256 + (dice[1] as number)) * 256 + (dice[2] as number)) / 2 ** 24;
  }
}

/** By chance: 0 to 1, 1 excluded. */
export function share(host: Pick<Host, "random">): number {
  const dice = new Uint8Array(2);
  host.random(dice);
  return ((dice[0] as number) * 256 + (dice[1] as number)) / 65_536;
}
