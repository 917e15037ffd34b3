import type { AbortSignalLike } from "../../platform/wait.js";
import type { Clock } from "../../port.js";
import type { Outbox } from "../queue/outbox.js";

interface Flush {
  /** Number of the first point that does not have to be delivered. */
  readonly number: number;
  readonly end: (all: boolean) => void;
}

/** Pending `flush()` calls, which end when the points recorded before them left the outbox. */
export class FlushQueue {
  private readonly _clock: Clock;
  private readonly _outbox: Outbox;
  private _queue: Flush[] = [];

  constructor(clock: Clock, outbox: Outbox) {
    this._clock = clock;
    this._outbox = outbox;
  }

  get waiting(): boolean {
    return this._queue.length > 0;
  }

  /**
   * True once all earlier points left the outbox. False after `timeoutMs`, on abort, at `end()`, or
   * if not `running`.
   */
  add(timeoutMs: number, running: boolean, signal?: AbortSignalLike): Promise<boolean> {
    if (this._outbox.waiting === 0 || !running || signal?.aborted)
      return Promise.resolve(this._outbox.waiting === 0);
    return new Promise((resolve) => {
      const flush: Flush = {
        number: this._outbox.next,
        end: (all) => {
          cancel();
          signal?.removeEventListener("abort", giveUp);
          resolve(all);
        },
      };
      const giveUp = () => {
        this._queue = this._queue.filter((one) => one !== flush);
        flush.end(false);
      };
      const cancel = this._clock.timer(timeoutMs, giveUp);
      signal?.addEventListener("abort", giveUp);
      this._queue.push(flush);
    });
  }

  /** Ends the calls whose points have left the outbox. */
  check(): void {
    const { first } = this._outbox;
    for (const flush of this._queue) if (flush.number <= first) flush.end(true);
    this._queue = this._queue.filter((flush) => flush.number > first);
  }

  /** Ends all calls, because nothing is sent any more. */
  end(): void {
    this.check();
    for (const flush of this._queue) flush.end(false);
    this._queue = [];
  }
}
