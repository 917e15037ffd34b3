import type { Host } from "../../src/port.js";

/** Longer than the longest pause of a working agent, which retries a refusal every 10 minutes. */
const SILENCE_MS = 1_800_000;
/** A wake may be late. */
const WAKES = 3;

/** Judges by activity whether the agent is alive: timers also run beside an agent that hangs. */
export class SignsOfLife {
  readonly #now: () => number;
  #last: number;
  #silenceMs = SILENCE_MS;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#last = now();
  }

  /** Wraps `open`: each connection attempt and socket event counts as a sign of life. */
  watch(open: Host["open"]): Host["open"] {
    return (name, port, secure, event) => {
      this.sign();
      return open(name, port, secure, (what, reason) => {
        this.sign();
        event(what, reason);
      });
    };
  }

  /** It sleeps for so long between two signs, which `sign` gives at each wake. */
  expectWakes(everyMs: number): void {
    this.#silenceMs = Math.max(SILENCE_MS, WAKES * everyMs);
  }

  sign(): void {
    this.#last = this.#now();
  }

  get lives(): boolean {
    return this.#now() - this.#last < this.#silenceMs;
  }
}
