import type { AbortSignalLike } from "../../platform/abort-signal.js";
import type { Clock } from "../../port.js";
import type { Outbox } from "../queue/outbox.js";

/** What happened to the points that were recorded before a flush. */
export interface Flushed {
  /** The platform accepted them. */
  readonly delivered: number;
  /** They left the queue otherwise: the event `drop` says why. */
  readonly dropped: number;
  /** They are still waiting. */
  readonly waiting: number;
}

interface Flush {
  readonly from: number;
  /** Number of the first point that does not have to be delivered. */
  readonly number: number;
  delivered: number;
  readonly end: () => void;
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
   * Resolves once all earlier points left the outbox, after `timeoutMs`, on abort, at `endAll()`,
   * or if not `running`.
   */
  whenGone(timeoutMs: number, running: boolean, signal?: AbortSignalLike): Promise<Flushed> {
    const { waiting, first, next } = this._outbox;
    if (waiting === 0 || !running || signal?.aborted)
      return Promise.resolve({ delivered: 0, dropped: 0, waiting });
    return new Promise((resolve) => {
      const flush: Flush = {
        from: first,
        number: next,
        delivered: 0,
        end: () => {
          cancel();
          signal?.removeEventListener("abort", giveUp);
          const left = Math.min(this._outbox.first, next) - first;
          resolve({
            delivered: flush.delivered,
            dropped: left - flush.delivered,
            waiting: next - first - left,
          });
        },
      };
      const giveUp = () => {
        this._queue = this._queue.filter((one) => one !== flush);
        flush.end();
      };
      const cancel = this._clock.timer(timeoutMs, giveUp);
      signal?.addEventListener("abort", giveUp);
      this._queue.push(flush);
    });
  }

  /** The platform accepted `points` from `number` on. */
  delivered(number: number, points: number): void {
    for (const flush of this._queue)
      flush.delivered += Math.max(0, Math.min(number + points, flush.number) - Math.max(number, flush.from));
  }

  /** Ends the calls whose points have left the outbox. */
  endSome(): void {
    const { first } = this._outbox;
    for (const flush of this._queue) if (flush.number <= first) flush.end();
    this._queue = this._queue.filter((flush) => flush.number > first);
  }

  /** Ends all calls, because nothing is sent any more. */
  endAll(): void {
    this.endSome();
    for (const flush of this._queue) flush.end();
    this._queue = [];
  }
}
