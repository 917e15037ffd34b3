import type { Row, RowTaker } from "../../../src/report/index.js";
import type { Screen } from "../output/progress.js";
import { size } from "../output/size.js";
import { plain } from "../output/table.js";
import { UsageError } from "../usage.js";
import { Dates } from "./dates.js";
import type { Format } from "./formats.js";
import type { Output } from "./output.js";
import { Spool } from "./spool.js";

/** Between two lines of progress. */
const PROGRESS_MS = 100;
/** Labels that are named to people. */
const NAMED = 8;
/** Characters of a label that is named. */
const LABEL = 80;
/** Each row takes a field for each: what a platform says in three bytes must not fill a disk. */
const MOST_COLUMNS = 4096;

/** Brings the rows of one report into an output as they come in. */
export class Delivery implements RowTaker {
  readonly #format: Format;
  readonly #output: Output;
  readonly #chosen: readonly string[];
  readonly #dates: Dates;
  readonly #screen: Screen | undefined;
  #columns: readonly string[] | undefined;
  #spool: Spool | undefined;
  #known = new Set<string>();
  readonly #strange = new Set<string>();
  #shownAt = 0;
  rows = 0;

  /** `screen`: where progress is shown. */
  constructor(format: Format, output: Output, dates: readonly string[], screen: Screen | undefined) {
    this.#format = format;
    this.#output = output;
    this.#chosen = dates;
    this.#dates = new Dates(dates);
    this.#screen = screen;
  }

  /** Throws UsageError if a column that shall be a date is not there. */
  labels(labels: readonly string[]): boolean {
    if (labels.length > MOST_COLUMNS)
      throw new Error(`the report has ${labels.length} columns; at most ${MOST_COLUMNS} are supported`);
    this.#columns = labels;
    this.#known = new Set(labels);
    const missing = this.#chosen.find((label) => !labels.includes(label));
    if (missing !== undefined)
      throw new UsageError(`--date: no column ${named([missing])} (expected one of ${named(labels)})`);
    return this.#output.write(this.#format.head(labels));
  }

  row(row: Row): boolean {
    this.rows++;
    const dated = this.#dates.apply(row);
    if (this.#columns || !this.#format.needsColumns) return this.#write(dated);
    this.#spool ??= new Spool();
    this.#spool.add(dated);
    return true;
  }

  received(bytes: number): void {
    const now = performance.now();
    if (!this.#screen || now - this.#shownAt < PROGRESS_MS) return;
    this.#shownAt = now;
    this.#screen.write(`\r\u001b[2K${this.rows.toLocaleString("en")} rows, ${size(bytes)}`);
  }

  /** The report is whole. */
  finish(): void {
    for (const row of this.#spool?.rows() ?? []) this.#write(row);
    this.#output.write(this.#format.end());
    this.close();
  }

  /** Idempotent. */
  close(): void {
    if (this.#shownAt > 0) this.#screen?.write("\r\u001b[2K");
    this.#shownAt = 0;
    this.#spool?.close();
    this.#spool = undefined;
  }

  /** What to tell about the report, besides it. */
  get remarks(): string[] {
    const labels = this.#columns ?? [];
    const remarks: string[] = [];
    const met = new Set<string>();
    const twice = labels.filter((label) => met.size === met.add(label).size);
    const { likely } = this.#dates;
    if (likely.length > 0)
      remarks.push(
        `Looks like a date: ${likely
          .slice(0, NAMED)
          .map((label) => `--date ${named([label])}`)
          .join(" ")}`,
      );
    if (twice.length > 0)
      remarks.push(
        `Two columns have the same label, and the platform sends one value for both: ${named(twice)}`,
      );
    if (this.#strange.size > 0)
      remarks.push(`Left out values whose labels are not columns: ${named([...this.#strange])}`);
    if (this.#format.leftOut !== undefined) remarks.push(this.#format.leftOut);
    return remarks;
  }

  #write(row: Row): boolean {
    if (this.#format.needsColumns)
      for (const label of Object.keys(row))
        if (!this.#known.has(label) && this.#strange.size <= NAMED) this.#strange.add(label.slice(0, LABEL));
    return this.#output.write(this.#format.row(row));
  }
}

function named(labels: readonly string[]): string {
  const some = labels.slice(0, NAMED).map((label) => JSON.stringify(plain(label.slice(0, LABEL))));
  return some.join(", ") + (labels.length > NAMED ? ", ..." : "");
}
