/** At most four pictures a second. */
const PAUSE_MS = 250;

export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
}

export interface Time {
  now(): number;
  /** Returns what cancels it. */
  later(ms: number, due: () => void): () => void;
}

/** A block of lines at the end of a terminal's output, redrawn in place; `print` adds lasting lines above it. */
export class Screen {
  readonly #terminal: Terminal;
  readonly #time: Time;
  readonly #picture: (columns: number) => string[];
  #drawn = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /** `picture` gives the block's lines, none wider than `columns`. */
  constructor(terminal: Terminal, time: Time, picture: (columns: number) => string[]) {
    this.#terminal = terminal;
    this.#time = time;
    this.#picture = picture;
  }

  /** Something changed: draws now, or as soon as a quarter of a second has passed since the last time. */
  refresh(): void {
    if (this.#cancel) return;
    const wait = this.#drawnAt + PAUSE_MS - this.#time.now();
    if (wait <= 0) {
      this.#draw();
      return;
    }
    this.#cancel = this.#time.later(wait, () => {
      this.#cancel = undefined;
      this.#draw();
    });
  }

  print(lines: readonly string[]): void {
    this.#terminal.write(`${this.#erase()}${lines.map((line) => `${line}\n`).join("")}`);
    this.#drawn = 0;
    this.#draw();
  }

  /** Draws what is last and leaves it standing. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#draw();
    this.#drawn = 0;
  }

  #draw(): void {
    this.#drawnAt = this.#time.now();
    // The last column stays free: some terminals wrap when it is filled.
    const lines = this.#picture((this.#terminal.columns ?? 80) - 1);
    this.#terminal.write(`${this.#erase()}${lines.map((line) => `${line}\n`).join("")}`);
    this.#drawn = lines.length;
  }

  #erase(): string {
    return this.#drawn === 0 ? "" : `\u001b[${this.#drawn}A\u001b[J`;
  }
}
