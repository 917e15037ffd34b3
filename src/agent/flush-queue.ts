import type { Clock } from "../port.js";
import type { Outbox } from "./outbox.js";

interface Flush {
  /** The number of the first point that need not be delivered. */
  readonly number: number;
  readonly end: (all: boolean) => void;
}

/** Those who wait until all that was recorded before has left the outbox. */
export class FlushQueue {
  readonly #clock: Clock;
  readonly #outbox: Outbox;
  #queue: Flush[] = [];

  constructor(clock: Clock, outbox: Outbox) {
    this.#clock = clock;
    this.#outbox = outbox;
  }

  get waiting(): boolean {
    return this.#queue.length > 0;
  }

  /** True once nothing recorded before waits any more, false after `deadlineMs`, at `end()`, and at once if nobody sends. */
  add(deadlineMs: number, running: boolean): Promise<boolean> {
    if (this.#outbox.waiting === 0 || !running) return Promise.resolve(this.#outbox.waiting === 0);
    return new Promise((resolve) => {
      const flush: Flush = {
        number: this.#outbox.next,
        end: (all) => {
          cancel();
          resolve(all);
        },
      };
      const cancel = this.#clock.timer(deadlineMs, () => {
        this.#queue = this.#queue.filter((one) => one !== flush);
        resolve(false);
      });
      this.#queue.push(flush);
    });
  }

  /** Ends those whose points are gone. */
  check(): void {
    const { first } = this.#outbox;
    for (const flush of this.#queue) if (flush.number <= first) flush.end(true);
    this.#queue = this.#queue.filter((flush) => flush.number > first);
  }

  /** Nobody sends any more. */
  end(): void {
    this.check();
    for (const flush of this.#queue) flush.end(false);
    this.#queue = [];
  }
}
