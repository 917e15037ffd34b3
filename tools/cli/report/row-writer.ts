import type { Row, RowTaker } from "../../../report/index.js";
import { record } from "../output/csv.js";
import { Progress, type Screen } from "../output/progress.js";
import { size } from "../output/size.js";
import { cell, plain, table } from "../output/table.js";
import type { Output } from "./output.js";

export const FORMATS = ["table", "csv", "ndjson"] as const;
export type FormatName = (typeof FORMATS)[number];

/** Time between two updates of the progress line. */
const PROGRESS_MS = 100;
/** Labels that a message names, and characters of each. */
const NAMED = { labels: 8, characters: 80 } as const;
/** Each row has a field per column: three bytes from a platform must not fill a disk. */
const MOST_COLUMNS = 4096;
/** Rows of a table, and characters of a cell: a table is in memory until its end. */
const TABLE = { rows: 1000, characters: 2000 } as const;
/** Rows that are kept if they come before the columns. */
const MOST_EARLY = 10_000;

/** Writes the rows of one report into an output as they come in. */
export class RowWriter implements RowTaker {
  readonly #format: FormatName;
  readonly #output: Pick<Output, "write">;
  readonly #progress: Progress | undefined;
  #columns: readonly string[] | undefined;
  #known = new Set<string>();
  /** Rows before the columns, and those of a table. */
  #early: Row[] = [];
  #cells: string[][] = [];
  readonly #strange = new Set<string>();
  #shownAt = 0;
  rows = 0;

  /** `screen`: where progress is shown. */
  constructor(format: FormatName, output: Pick<Output, "write">, screen?: Screen) {
    this.#format = format;
    this.#output = output;
    this.#progress = screen && new Progress(screen);
  }

  labels(labels: readonly string[]): boolean {
    if (labels.length > MOST_COLUMNS)
      throw new Error(`the report has ${labels.length} columns; at most ${MOST_COLUMNS} are supported`);
    this.#columns = labels;
    this.#known = new Set(labels);
    if (this.#format === "csv") this.#output.write(record(labels));
    const early = this.#early;
    this.#early = [];
    return early.every((row) => this.#write(row));
  }

  row(row: Row): boolean {
    this.rows++;
    if (this.#columns || this.#format === "ndjson") return this.#write(row);
    if (this.#early.push(row) <= MOST_EARLY) return true;
    throw new Error("the platform sends the columns after the rows: use --format ndjson");
  }

  received(bytes: number): void {
    const now = performance.now();
    if (!this.#progress || now - this.#shownAt < PROGRESS_MS) return;
    this.#shownAt = now;
    this.#progress.show([`${this.rows.toLocaleString("en")} rows, ${size(bytes)}`]);
  }

  /** Writes the rest of a complete report. */
  finish(): void {
    if (this.#format === "table") this.#output.write(table(this.#columns ?? [], this.#cells));
  }

  /** Removes the progress line. */
  close(): void {
    this.#progress?.show([]);
  }

  /** Messages for the user about the report. */
  get remarks(): string[] {
    const labels = this.#columns ?? [];
    const met = new Set<string>();
    const twice = labels.filter((label) => met.size === met.add(label).size);
    const hidden = this.#format === "table" ? this.rows - this.#cells.length : 0;
    return [
      ...(twice.length > 0
        ? [`Two columns have the same label, and the platform sends one value for both: ${named(twice)}`]
        : []),
      ...(this.#strange.size > 0
        ? [`Left out values whose labels are not columns: ${named([...this.#strange])}`]
        : []),
      ...(hidden > 0 ? [`A table has at most ${TABLE.rows} rows: ${hidden} more with --format csv`] : []),
    ];
  }

  #write(row: Row): boolean {
    if (this.#format === "ndjson") return this.#output.write(`${JSON.stringify(row)}\n`);
    for (const label of Object.keys(row))
      if (!this.#known.has(label) && this.#strange.size <= NAMED.labels)
        this.#strange.add(label.slice(0, NAMED.characters));
    const values = (this.#columns ?? []).map((label) => (Object.hasOwn(row, label) ? row[label] : undefined));
    if (this.#format === "csv") return this.#output.write(record(values));
    if (this.#cells.length < TABLE.rows)
      this.#cells.push(values.map((value) => cell(value).slice(0, TABLE.characters)));
    return true;
  }
}

function named(labels: readonly string[]): string {
  const some = labels
    .slice(0, NAMED.labels)
    .map((label) => JSON.stringify(plain(label.slice(0, NAMED.characters))));
  return some.join(", ") + (labels.length > NAMED.labels ? ", ..." : "");
}
