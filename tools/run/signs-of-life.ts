import type { Host } from "../../src/port.js";

/** More than the longest time between two requests of an agent that works: it tries a platform that refuses it every ten minutes. */
const SILENCE_MS = 1_800_000;
/** A wake may be late. */
const WAKES = 3;

/** Whether the agent lives, by what it does: a worker whose timers run can hold an agent that waits for what never comes. */
export class SignsOfLife {
  readonly #now: () => number;
  #last: number;
  #silenceMs = SILENCE_MS;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#last = now();
  }

  /** `open`, with each connection, and what happens to it, taken for a sign. Without a network the agent tries, which is one too. */
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
