// Bounds output that nobody reads, so that it cannot fill the memory.

/** Accepts items and reports how much is waiting, like `process.stdout`. */
export interface Sink<T> {
  write(item: T): unknown;
  /** Bytes or characters that were written and not read yet. */
  readonly writableLength?: number | undefined;
  on(event: "error" | "drain", listener: () => void): unknown;
}

/** Maximum that waits for a reader. */
export const WAITING = 1024 * 1024;

/**
 * Passes items to a sink. While 1 MiB is waiting there, items are dropped and counted. Once half of
 * it is read, `leftOut` creates an item with the count. Silent after an error of the sink.
 */
export class BoundedOutput<T> {
  readonly #sink: Sink<T>;
  readonly #leftOut: (count: number) => T | undefined;
  #count = 0;
  #open = true;

  /** `leftOut`: undefined if the count is reported elsewhere. */
  constructor(sink: Sink<T>, leftOut: (count: number) => T | undefined) {
    this.#sink = sink;
    this.#leftOut = leftOut;
    sink.on("error", () => {
      this.#open = false;
    });
    sink.on("drain", () => this.#resume());
  }

  write(item: T): void {
    if (!this.#open) return;
    if (this.#count > 0) this.#resume();
    if (this.#count > 0 || this.#waiting >= WAITING) this.#count++;
    else this.#sink.write(item);
  }

  get #waiting(): number {
    return this.#sink.writableLength ?? 0;
  }

  #resume(): void {
    if (this.#count === 0 || !this.#open || this.#waiting > WAITING / 2) return;
    const item = this.#leftOut(this.#count);
    this.#count = 0;
    if (item !== undefined) this.#sink.write(item);
  }
}

/** Text for people. */
export const leftOutLine = (count: number): string =>
  `${count} line${count === 1 ? " was" : "s were"} left out: nobody read the output in time`;
