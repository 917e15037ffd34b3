// A table for people, printed once the report is complete: it needs all rows for its widths.
import type { Row } from "../../../src/report/index.js";
import { table } from "../output/table.js";
import type { Format } from "./format.js";

/** Width that each column gets at least, with the gap before the next one. */
const LEAST_WIDTH = 8;

export class TableFormat implements Format {
  readonly needsColumns = true;
  readonly #width: number;
  readonly #rows: unknown[][] = [];
  #columns: readonly string[] = [];
  leftOut: string | undefined;

  /** `width`: of the terminal; 0 or undefined if there is none to fit. */
  constructor(width: number | undefined) {
    this.#width = width || Number.POSITIVE_INFINITY;
  }

  /** Drops the last columns where a narrow terminal has no room for all. */
  head(columns: readonly string[]): string {
    this.#columns = columns.slice(0, Math.max(1, Math.floor(this.#width / LEAST_WIDTH)));
    const count = columns.length - this.#columns.length;
    if (count > 0)
      this.leftOut = `${count} more column${count === 1 ? "" : "s"}: the terminal is too narrow; --format csv has them all`;
    return "";
  }

  row(row: Row): string {
    this.#rows.push(this.#columns.map((label) => (Object.hasOwn(row, label) ? row[label] : undefined)));
    return "";
  }

  end(): string {
    return table(this.#columns, this.#rows, { columns: this.#width });
  }
}
