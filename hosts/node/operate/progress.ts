// What goes on, for the person who waits: a bar in place on a terminal, a line for each step elsewhere.

const BAR = 24;

/** `[############            ]  50 %` */
export function bar(share: number): string {
  const part = Math.min(1, Math.max(0, share));
  const full = Math.floor(part * BAR);
  return `[${"#".repeat(full)}${" ".repeat(BAR - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
}

export interface Screen {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Lines that are drawn over one another on a terminal; elsewhere each is written once, when it changed. */
export class Progress {
  readonly #screen: Screen;
  #drawn = 0;
  #lines: readonly string[] = [];

  constructor(screen: Screen = process.stderr) {
    this.#screen = screen;
  }

  /** `coarse`: the same in few words, for where lines can't be drawn over. */
  show(lines: readonly string[], coarse: readonly string[] = lines): void {
    if (this.#screen.isTTY) {
      const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : "";
      this.#screen.write(`${up}${lines.map((line) => `\u001b[2K${line}\n`).join("")}`);
      this.#drawn = lines.length;
      return;
    }
    for (const line of coarse) if (!this.#lines.includes(line)) this.#screen.write(`${line}\n`);
    this.#lines = coarse;
  }

  /** What follows is written below. */
  end(): void {
    this.#drawn = 0;
    this.#lines = [];
  }
}
