// Shows progress: a bar drawn in place on a terminal, a line for each step elsewhere.
import { clip } from "./table.js";

const BAR = 24;

/** `[############            ]  50 %` */
export function bar(share: number): string {
  const part = Math.min(1, Math.max(0, share));
  const full = Math.floor(part * BAR);
  return `[${"#".repeat(full)}${" ".repeat(BAR - full)}] ${String(Math.floor(part * 100)).padStart(3)} %`;
}

export interface Screen {
  readonly isTTY?: boolean | undefined;
  /** Of a terminal. */
  readonly rows?: number | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** Redraws lines in place on a terminal; elsewhere writes each line once, when it changed. */
export class Progress {
  readonly #screen: Screen;
  #drawn = 0;
  #lines: readonly string[] = [];

  constructor(screen: Screen = process.stderr) {
    this.#screen = screen;
  }

  /** `coarse`: shorter lines for outputs that cannot be redrawn. */
  show(lines: readonly string[], coarse: readonly string[] = lines): void {
    if (this.#screen.isTTY) {
      const fitting = this.#fitting(lines);
      const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : "";
      // The previous lines may have been longer.
      this.#screen.write(`${up}${fitting.map((line) => `\u001b[2K${line}\n`).join("")}\u001b[J`);
      this.#drawn = fitting.length;
      return;
    }
    for (const line of coarse) if (!this.#lines.includes(line)) this.#screen.write(`${line}\n`);
    this.#lines = coarse;
  }

  /** Drops lines that do not fit the screen: the cursor cannot move above it. */
  #fitting(lines: readonly string[]): string[] {
    const { rows = 24, columns = 80 } = this.#screen;
    const cut = (line: string): string => clip(line, columns - 1);
    // The cursor stands below the last line.
    const most = Math.max(1, rows - 1);
    if (lines.length <= most) return lines.map(cut);
    const shown = lines.slice(0, most - 1);
    return [...shown, `and ${lines.length - shown.length} more`].map(cut);
  }

  /** Later output goes below. */
  end(): void {
    this.#drawn = 0;
    this.#lines = [];
  }
}
