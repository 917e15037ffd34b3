import type { Clock } from "../port.js";

/** Lets one loop wait for an event or a time. One waiter at a time. */
export class Signal {
  private readonly _clock: Clock;
  private _raised = false;
  private _resolve: (() => void) | undefined;
  private _cancelWait: (() => void) | undefined;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /**
   * Resolves at the next `notify()`, at once if it was called since the last wait, or after `ms`
   * (if given).
   */
  wait(ms?: number): Promise<void> {
    if (this._raised || this._resolve) {
      this._raised = false;
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      // First the timer: if it throws, nothing waits.
      if (ms !== undefined) this._cancelWait = this._clock.timer(ms, () => this._endWait());
      this._resolve = resolve;
    });
  }

  /** Returns and clears whether it was raised since the last wait. */
  protected takeRaised(): boolean {
    const raised = this._raised;
    this._raised = false;
    return raised;
  }

  notify(): void {
    if (this._resolve) this._endWait();
    else this._raised = true;
  }

  private _endWait(): void {
    const { _resolve: resolve, _cancelWait: cancel } = this;
    this._resolve = undefined;
    this._cancelWait = undefined;
    cancel?.();
    resolve?.();
  }
}
