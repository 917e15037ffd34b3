import type { Clock } from "./core/common/clock.js";

/** The longest a timer of Node may be set; beyond it would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

/** The machine's clock. Its timers keep no process alive; `close` cancels all of them. */
export class NodeClock implements Clock {
  readonly #timers = new Set<NodeJS.Timeout>();

  now(): number {
    return Date.now();
  }

  timer(ms: number, callback: () => void): () => void {
    const run = (): void => {
      this.#timers.delete(timer);
      callback();
    };
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS)).unref();
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
      clearTimeout(timer);
    };
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }
}
