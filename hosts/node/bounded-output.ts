// Output that nobody reads must not fill the memory.

/** Takes items, and says how much of them waits: `process.stdout`, for one. */
export interface Sink<T> {
  write(item: T): unknown;
  /** Bytes or characters that were written and not read yet. */
  readonly writableLength?: number | undefined;
  on(event: "error" | "drain", listener: () => void): unknown;
}

/** More than this does not wait for a reader. */
export const WAITING = 1024 * 1024;

/**
 * Passes items on to a sink. While 1 MiB waits there, items are left out and counted; once half of that
 * is read, `leftOut` makes the item that says how many. After an error of the sink it is silent.
 */
export class BoundedOutput<T> {
  readonly #sink: Sink<T>;
  readonly #leftOut: (count: number) => T | undefined;
  #count = 0;
  #open = true;

  /** `leftOut`: undefined if it says the count elsewhere. */
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

/** For people. */
export const leftOutLine = (count: number): string =>
  `${count} line${count === 1 ? " was" : "s were"} left out: nobody read the output in time`;
