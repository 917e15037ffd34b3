// A table for people: columns as wide as the first rows ask for, and no wider than the terminal.
import stringWidth from "string-width";
import type { Row } from "../../../src/report/index.js";
import { cell } from "../operate/print.js";
import type { Format } from "./formats.js";

/** Rows that are looked at before the first line is written. */
const SAMPLE = 200;
const GAP = 2;
/** A column is not made narrower than that. */
const NARROWEST = 6;
const MORE = "…";

export class TableFormat implements Format {
  readonly needsColumns = true;
  readonly #width: number | undefined;
  readonly #graphemes = new Intl.Segmenter();
  #columns: readonly string[] = [];
  #waiting: Row[] | undefined = [];
  #widths: number[] = [];
  #isNumber: boolean[] = [];

  constructor(width: number | undefined) {
    this.#width = width;
  }

  head(columns: readonly string[]): string {
    this.#columns = columns;
    return "";
  }

  row(row: Row): string {
    if (!this.#waiting) return this.#line(this.#cells(row));
    this.#waiting.push(row);
    return this.#waiting.length < SAMPLE ? "" : this.#begin(this.#waiting);
  }

  end(): string {
    return this.#waiting ? this.#begin(this.#waiting) : "";
  }

  get leftOut(): string | undefined {
    const count = this.#columns.length - this.#widths.length;
    if (count === 0) return undefined;
    return `${count} more column${count === 1 ? "" : "s"}: the terminal is too narrow; --format csv has them all`;
  }

  /** Settles the widths and writes what waited. */
  #begin(rows: readonly Row[]): string {
    this.#waiting = undefined;
    const lines = rows.map((row) => this.#cells(row));
    const head = this.#columns.map(cell);
    const natural = head.map((label, column) =>
      lines.reduce((most, line) => Math.max(most, stringWidth(line[column] ?? "")), stringWidth(label)),
    );
    this.#widths = this.#width === undefined ? natural : fitted(natural, this.#width);
    this.#isNumber = this.#columns.map((label) =>
      rows.every(
        (row) => !Object.hasOwn(row, label) || row[label] === null || typeof row[label] === "number",
      ),
    );
    return [head, ...lines].map((line) => this.#line(line)).join("");
  }

  #cells(row: Row): string[] {
    return this.#columns.map((label) => cell(Object.hasOwn(row, label) ? row[label] : undefined));
  }

  #line(cells: readonly string[]): string {
    const parts = this.#widths.map((width, column) => {
      const text = this.#width === undefined ? (cells[column] ?? "") : this.#clip(cells[column] ?? "", width);
      const blanks = " ".repeat(Math.max(0, width - stringWidth(text)));
      return this.#isNumber[column] ? blanks + text : text + blanks;
    });
    return `${parts.join(" ".repeat(GAP)).trimEnd()}\n`;
  }

  #clip(text: string, width: number): string {
    if (stringWidth(text) <= width) return text;
    let clipped = "";
    let used = 1;
    for (const { segment } of this.#graphemes.segment(text)) {
      used += stringWidth(segment);
      if (used > width) break;
      clipped += segment;
    }
    return clipped + MORE;
  }
}

/** Takes from the widest until all find room; what still finds none is left out at the end, but for the first column. */
function fitted(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  const least = (all: readonly number[]): number =>
    all.reduce((sum, width) => sum + Math.min(width, NARROWEST) + GAP, -GAP);
  while (widths.length > 1 && least(widths) > room) widths.pop();
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP, -GAP);
  for (let over = total() - room; over > 0; over = total() - room) {
    const widest = Math.max(...widths);
    const next = Math.max(0, ...widths.filter((width) => width < widest));
    const many = widths.filter((width) => width === widest).length;
    // All of the widest together, down to the next, or as far as is needed.
    const step = Math.max(1, Math.min(widest - next, Math.floor(over / many)));
    if (widest <= 1) break;
    for (let column = widths.length - 1; column >= 0 && over > 0; column--) {
      if (widths[column] !== widest) continue;
      const taken = Math.min(step, over, widest - 1);
      widths[column] = widest - taken;
      over -= taken;
    }
  }
  return widths;
}
