/** Of the report API, under the names of its settings. */
export interface PoolLimits {
  /** Requests that wait at most: SIMPLE_API_RATE_LIMITER_QUEUE_CAPACITY. */
  readonly queueCapacity: number;
  /** Requests that run at the same time: SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE. */
  readonly threadPoolSize: number;
}

/** What an unconfigured server has. */
export const POOL_DEFAULTS: PoolLimits = { queueCapacity: 10, threadPoolSize: 10 };

/** A place in the pool, or in the queue for it. */
export interface Place {
  /** Resolves when it runs. */
  readonly running: Promise<void>;
  /** Gives the place back. Idempotent. */
  leave(): void;
}

/** So many run, so many wait, and no more. */
export class WorkerPool {
  readonly #limits: PoolLimits;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  /** Undefined if the queue is full. */
  enter(): Place | undefined {
    const { queueCapacity, threadPoolSize } = this.#limits;
    const free = this.#running < threadPoolSize;
    if (!free && this.#waiting.length >= queueCapacity) return undefined;
    let begin = () => {};
    const running = new Promise<void>((resolve) => {
      begin = resolve;
    });
    if (free) {
      this.#running++;
      begin();
    } else this.#waiting.push(begin);
    let left = false;
    const leave = (): void => {
      if (left) return;
      left = true;
      const at = this.#waiting.indexOf(begin);
      if (at >= 0) this.#waiting.splice(at, 1);
      else this.#next();
    };
    return { running, leave };
  }

  #next(): void {
    const begin = this.#waiting.shift();
    if (begin) begin();
    else this.#running--;
  }
}
