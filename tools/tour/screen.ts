import stringWidth from "string-width";

/** At most four pictures a second. */
const PAUSE_MS = 250;

export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number;
  readonly rows?: number;
}

export interface Time {
  now(): number;
  /** Returns what cancels it. */
  later(ms: number, due: () => void): () => void;
}

/**
 * A block of lines at the end of a terminal's output, redrawn in place; `print` adds lasting lines
 * above it.
 */
export class Screen {
  readonly #terminal: Terminal;
  readonly #time: Time;
  readonly #picture: (columns: number) => string[];
  /** The lines of the last picture. */
  #drawn: readonly string[] = [];
  #drawnAt = Number.NEGATIVE_INFINITY;
  #cancel: (() => void) | undefined;

  /** `picture` gives the block's lines, none wider than `columns`. */
  constructor(terminal: Terminal, time: Time, picture: (columns: number) => string[]) {
    this.#terminal = terminal;
    this.#time = time;
    this.#picture = picture;
  }

  /** Draws now, or 250 ms after the last drawing. */
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
    this.#drawn = [];
    this.#draw();
  }

  /** Draws what is last and leaves it standing. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#draw();
    this.#drawn = [];
  }

  #draw(): void {
    this.#drawnAt = this.#time.now();
    // The last column stays free: some terminals wrap when it is filled.
    const lines = this.#fitting(this.#picture((this.#terminal.columns || 80) - 1));
    this.#terminal.write(`${this.#erase()}${lines.map((line) => `${line}\n`).join("")}`);
    this.#drawn = lines;
  }

  /**
   * Keeps to the terminal's height, because scrolled lines cannot be redrawn; drops empty lines
   * first.
   */
  #fitting(lines: string[]): string[] {
    const room = Math.max(1, (this.#terminal.rows || lines.length + 1) - 1);
    return lines.length <= room ? lines : lines.filter((line) => line !== "").slice(0, room);
  }

  /** A terminal made narrower since has broken its long lines again. */
  #erase(): string {
    const columns = this.#terminal.columns || 80;
    const rows = this.#drawn.reduce(
      (sum, line) => sum + Math.max(1, Math.ceil(stringWidth(line) / columns)),
      0,
    );
    return rows === 0 ? "" : `\u001b[${rows}A\u001b[J`;
  }
}
