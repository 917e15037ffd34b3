import type { Clock } from "../port.js";

/** Lets one loop wait until something happens or a time is over. One waiter at a time. */
export class Signal {
  readonly #clock: Clock;
  #raised = false;
  #wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at the next `notify()`, at once if there was one since the last wait, or after `ms` (never, if not given). */
  wait(ms?: number): Promise<void> {
    if (this.#raised || this.#wake) {
      this.#raised = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined;
      this.#wake = () => {
        this.#wake = undefined;
        cancel?.();
        resolve();
      };
      if (ms !== undefined) cancel = this.#clock.timer(ms, this.#wake);
    });
  }

  /** Whether it was raised since the last wait; lowers it. */
  protected take(): boolean {
    const raised = this.#raised;
    this.#raised = false;
    return raised;
  }

  notify(): void {
    if (this.#wake) {
      this.#wake();
      this.#raised = false;
    } else this.#raised = true;
  }
}
