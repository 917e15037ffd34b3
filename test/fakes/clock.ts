// A clock that stands still until a test moves it. Everything that happens in a fake host (timers,
// what sockets do) waits in this one queue, so that a run is the same every time.
import type { Clock } from "../../src/port.js";

interface Event {
  readonly at: number;
  readonly order: number;
  run: (() => void) | undefined;
}

/** Events at one instant after which a test is taken to go in circles. */
const STANDSTILL = 100_000;

export class FakeClock implements Clock {
  #now = 0;
  #wallAtZero: number | undefined;
  #order = 0;
  /** A heap: the event that comes next is the first. */
  readonly #queue: Event[] = [];
  #sameInstant = 0;
  /**
   * Waited for after each event: all that it set off is done. For a test with a part of it in
   * another process.
   */
  settled: () => Promise<void> = settle;

  /** `wall`: ms since 1970 at the start; undefined if the host does not know the time. */
  constructor(wall?: number) {
    this.#wallAtZero = wall;
  }

  now(): number {
    return this.#now;
  }

  wall(): number | undefined {
    return this.#wallAtZero === undefined ? undefined : this.#wallAtZero + this.#now;
  }

  timer(ms: number, due: () => void): () => void {
    if (!(ms >= 0 && ms <= 24 * 86_400_000))
      throw new Error(`a timer of ${ms} ms is against the port's contract`);
    const event: Event = { at: this.#now + ms, order: this.#order++, run: due };
    this.#insert(event);
    return () => {
      event.run = undefined;
    };
  }

  /** Sets the time of day, or forgets it. */
  setWall(ms: number | undefined): void {
    this.#wallAtZero = ms === undefined ? undefined : ms - this.#now;
  }

  /** Timers and socket events that have not come yet. */
  get waiting(): number {
    return this.#queue.filter((event) => event.run).length;
  }

  /**
   * Lets `ms` pass. What is due happens in order, and all promises are settled after each event.
   * Rejects with what an event threw.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await this.settled();
    while (await this.#step(end));
    this.#now = end;
  }

  /**
   * Lets time pass until `reached()`, event by event; rejects if that takes more than `withinMs`.
   * Returns the ms that passed.
   */
  async runUntil(reached: () => boolean, withinMs = 3_600_000): Promise<number> {
    const start = this.#now;
    await this.settled();
    while (!reached()) {
      if (await this.#step(start + withinMs)) continue;
      throw new Error(`not reached within ${withinMs} ms (${this.waiting} events wait beyond)`);
    }
    return this.#now - start;
  }

  /** Lets time pass until `promise` is settled, and returns it. */
  async untilSettled<T>(promise: Promise<T>, withinMs?: number): Promise<T> {
    let over = false;
    const end = (): void => {
      over = true;
    };
    promise.then(end, end);
    await this.runUntil(() => over, withinMs);
    return promise;
  }

  /** The next event up to `end`. False if there is none. */
  async #step(end: number): Promise<boolean> {
    let event = this.#queue[0];
    while (event && !event.run) {
      this.#takeFirst();
      event = this.#queue[0];
    }
    if (!event || event.at > end) return false;
    this.#takeFirst();
    this.#sameInstant = event.at === this.#now ? this.#sameInstant + 1 : 0;
    if (this.#sameInstant > STANDSTILL)
      throw new Error(`${STANDSTILL} events at ${this.#now} ms: going in circles`);
    this.#now = event.at;
    const { run } = event;
    event.run = undefined;
    run?.();
    await this.settled();
    return true;
  }

  #insert(event: Event): void {
    const queue = this.#queue;
    let at = queue.push(event) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(queue[parent]!, event)) break;
      queue[at] = queue[parent]!;
      at = parent;
    }
    queue[at] = event;
  }

  #takeFirst(): void {
    const queue = this.#queue;
    const last = queue.pop()!;
    if (queue.length === 0) return;
    let at = 0;
    for (let child = 1; child < queue.length; child = 2 * at + 1) {
      if (child + 1 < queue.length && isBefore(queue[child + 1]!, queue[child]!)) child++;
      if (isBefore(last, queue[child]!)) break;
      queue[at] = queue[child]!;
      at = child;
    }
    queue[at] = last;
  }
}

const isBefore = (one: Event, other: Event): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);

/**
 * Between two immediates Node runs all promises that are due. Some in one turn of its loop: a turn
 * costs more than most events.
 */
const IN_ONE_TURN = 16;
const waiting: (() => void)[] = [];
let immediates = 0;

/** Resolves when no promise has anything left to do. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (immediates > 0) return;
    immediates = IN_ONE_TURN;
    for (let n = 0; n < IN_ONE_TURN; n++) setImmediate(next);
  });
}

function next(): void {
  immediates--;
  waiting.shift()?.();
  // More wait than there are turns left: several clocks at a time.
  if (immediates === 0 && waiting.length > 0) {
    immediates = IN_ONE_TURN;
    for (let n = 0; n < IN_ONE_TURN; n++) setImmediate(next);
  }
}
