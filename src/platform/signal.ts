import type { Clock } from "../port.js";

/** Lets one loop wait until something happens or a time is over. One waiter at a time. */
export class Signal {
  private readonly _clock: Clock;
  private _raised = false;
  private _wake: (() => void) | undefined;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** Resolves at the next `notify()`, at once if there was one since the last wait, or after `ms` (never, if not given). */
  wait(ms?: number): Promise<void> {
    if (this._raised || this._wake) {
      this._raised = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      let cancel: (() => void) | undefined;
      this._wake = () => {
        this._wake = undefined;
        cancel?.();
        resolve();
      };
      if (ms !== undefined) cancel = this._clock.timer(ms, this._wake);
    });
  }

  /** Whether it was raised since the last wait; lowers it. */
  protected take(): boolean {
    const raised = this._raised;
    this._raised = false;
    return raised;
  }

  notify(): void {
    if (this._wake) {
      this._wake();
      this._raised = false;
    } else this._raised = true;
  }
}
