import type { Row, RowTaker } from "../../../report/index.js";
import { record } from "../output/csv.js";
import { plain } from "../output/table.js";
import type { Output } from "./output.js";

export const FORMATS = ["csv", "ndjson"] as const;
export type FormatName = (typeof FORMATS)[number];

/** Labels that a message names, and characters of each. */
const NAMED = { labels: 8, characters: 80 } as const;
/** Each row has a field per column: three bytes from a platform must not fill a disk. */
const MOST_COLUMNS = 4096;
/** Rows that are kept if they come before the columns. */
const MOST_EARLY = 10_000;

/** Writes the rows of one report into an output as they come in. */
export class RowWriter implements RowTaker {
  readonly #format: FormatName;
  readonly #output: Pick<Output, "write">;
  #columns: readonly string[] | undefined;
  #known = new Set<string>();
  /** Rows before the columns. */
  #early: Row[] = [];
  readonly #strange = new Set<string>();
  rows = 0;

  constructor(format: FormatName, output: Pick<Output, "write">) {
    this.#format = format;
    this.#output = output;
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

  /** Messages for the user about the report. */
  get remarks(): string[] {
    const labels = this.#columns ?? [];
    const met = new Set<string>();
    const twice = labels.filter((label) => met.size === met.add(label).size);
    return [
      ...(twice.length > 0
        ? [`Two columns have the same label, and the platform sends one value for both: ${named(twice)}`]
        : []),
      ...(this.#strange.size > 0
        ? [`Left out values whose labels are not columns: ${named([...this.#strange])}`]
        : []),
    ];
  }

  #write(row: Row): boolean {
    if (this.#format === "ndjson") return this.#output.write(`${JSON.stringify(row)}\n`);
    for (const label of Object.keys(row))
      if (!this.#known.has(label) && this.#strange.size <= NAMED.labels)
        this.#strange.add(label.slice(0, NAMED.characters));
    const values = (this.#columns ?? []).map((label) => (Object.hasOwn(row, label) ? row[label] : undefined));
    return this.#output.write(record(values));
  }
}

function named(labels: readonly string[]): string {
  const some = labels
    .slice(0, NAMED.labels)
    .map((label) => JSON.stringify(plain(label.slice(0, NAMED.characters))));
  return some.join(", ") + (labels.length > NAMED.labels ? ", ..." : "");
}
