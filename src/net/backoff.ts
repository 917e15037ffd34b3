import type { Host } from "../port.js";

const FIRST_MS = 1000;
const LONGEST_MS = 300_000;
/** However the dice fall, and if the host has none. */
const SHORTEST_MS = 100;

/**
 * How long to wait before the next attempt. While the delay grows (1 s, doubled each time) anything up to it, so that devices
 * that lost the platform together do not come back together; at its longest, 5 min give or take a tenth.
 */
export class Backoff {
  readonly #host: Pick<Host, "random">;
  readonly #longestMs: number;
  #delayMs = FIRST_MS;

  constructor(host: Pick<Host, "random">, longestMs = LONGEST_MS) {
    this.#host = host;
    this.#longestMs = longestMs;
  }

  /** ms, whole, 100 to 330,000, or a tenth more than `longestMs`. */
  next(): number {
    const delay = this.#delayMs;
    this.#delayMs = Math.min(this.#longestMs, delay * 2);
    const share = this.#throw();
    const ms = delay === this.#longestMs ? delay * (0.9 + 0.2 * share) : delay * share;
    return Math.max(SHORTEST_MS, Math.round(ms));
  }

  /** The next delay is a short one again. */
  reset(): void {
    this.#delayMs = FIRST_MS;
  }

  /** 0 to 1, 1 excluded. */
  #throw(): number {
    // An agent has a dozen of these, and throws seldom: the buffer is not kept.
    const dice = new Uint8Array(4);
    this.#host.random(dice);
    return (((dice[0] as number) * 256 + (dice[1] as number)) * 256 + (dice[2] as number)) / 2 ** 24;
  }
}
