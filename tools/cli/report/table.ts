// A table for people: columns as wide as the first rows ask for, and no wider than the terminal.
import stringWidth from "string-width";
import type { Row } from "../../../src/report/index.js";
import { cell, clip } from "../output/table.js";
import type { Format } from "./formats.js";

/** What is looked at before the first line is written: rows, and their characters. */
const SAMPLE = { rows: 200, characters: 1_000_000 } as const;
/** Of a text on a terminal: no line has room for more. */
const LONGEST = 2000;
const GAP = 2;
/** A column is not made narrower than that. */
const NARROWEST = 6;

export class TableFormat implements Format {
  readonly needsColumns = true;
  readonly #width: number | undefined;
  #columns: readonly string[] = [];
  #waiting: string[][] | undefined = [];
  #characters = 0;
  #widths: number[] = [];
  #isNumber: boolean[] = [];

  constructor(width: number | undefined) {
    // 0: a terminal that does not tell.
    this.#width = width || undefined;
  }

  head(columns: readonly string[]): string {
    this.#columns = columns;
    return "";
  }

  row(row: Row): string {
    const cells = this.#cells(row);
    if (!this.#waiting) return this.#line(cells);
    this.#watch(row, cells);
    this.#waiting.push(cells);
    const enough = this.#waiting.length >= SAMPLE.rows || this.#characters >= SAMPLE.characters;
    return enough ? this.#begin(this.#waiting) : "";
  }

  end(): string {
    return this.#waiting ? this.#begin(this.#waiting) : "";
  }

  get leftOut(): string | undefined {
    const count = this.#columns.length - this.#widths.length;
    if (count === 0) return undefined;
    return `${count} more column${count === 1 ? "" : "s"}: the terminal is too narrow; --format csv has them all`;
  }

  /** Columns of numbers are those of which no row says otherwise. */
  #watch(row: Row, cells: readonly string[]): void {
    this.#columns.forEach((label, column) => {
      const value = Object.hasOwn(row, label) ? row[label] : null;
      if (value !== null && typeof value !== "number") this.#isNumber[column] = false;
      this.#characters += cells[column]?.length ?? 0;
    });
  }

  /** Settles the widths and writes what waited. */
  #begin(lines: readonly string[][]): string {
    this.#waiting = undefined;
    const head = this.#columns.map((label) => this.#text(label));
    const natural = head.map((label, column) =>
      lines.reduce((most, line) => Math.max(most, stringWidth(line[column] ?? "")), stringWidth(label)),
    );
    this.#widths = this.#width === undefined ? natural : fitted(natural, this.#width);
    return [head, ...lines].map((line) => this.#line(line)).join("");
  }

  #cells(row: Row): string[] {
    return this.#columns.map((label) => this.#text(Object.hasOwn(row, label) ? row[label] : undefined));
  }

  #text(value: unknown): string {
    const isLong = this.#width !== undefined && typeof value === "string" && value.length > LONGEST;
    return cell(isLong ? value.slice(0, LONGEST) : value);
  }

  #line(cells: readonly string[]): string {
    const parts = this.#widths.map((width, column) => {
      const text = this.#width === undefined ? (cells[column] ?? "") : clip(cells[column] ?? "", width);
      const blanks = " ".repeat(Math.max(0, width - stringWidth(text)));
      return this.#isNumber[column] === false ? text + blanks : blanks + text;
    });
    return `${parts.join(" ".repeat(GAP)).trimEnd()}\n`;
  }
}

/** Shrinks the widest columns first, then drops columns from the right, except the first. */
function fitted(natural: readonly number[], room: number): number[] {
  let least = -GAP;
  const count = natural.findIndex((width) => {
    least += Math.min(width, NARROWEST) + GAP;
    return least > room;
  });
  const widths = natural.slice(0, count < 0 ? natural.length : Math.max(1, count));
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
