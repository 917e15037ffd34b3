// A report as text, row by row.
import type { Row } from "../../../src/report/index.js";
import { record } from "../output/csv.js";
import type { Format } from "./format.js";
import { TableFormat } from "./table.js";

export const FORMATS = ["table", "csv", "json", "ndjson"] as const;
export type FormatName = (typeof FORMATS)[number];

/** `width`: of the terminal; undefined if there is none to fit. */
export function formatOf(name: FormatName, width: number | undefined): Format {
  if (name === "table") return new TableFormat(width);
  return name === "csv" ? new CsvFormat() : new JsonFormat(name);
}

class CsvFormat implements Format {
  readonly needsColumns = true;
  #columns: readonly string[] = [];

  head(columns: readonly string[]): string {
    this.#columns = columns;
    return record(columns);
  }

  row(row: Row): string {
    return record(this.#columns.map((label) => (Object.hasOwn(row, label) ? row[label] : undefined)));
  }

  end(): string {
    return "";
  }
}

/** `json`: one array of objects, a line each. `ndjson`: an object a line. */
class JsonFormat implements Format {
  readonly needsColumns = false;
  readonly #isList: boolean;
  #rows = 0;

  constructor(name: "json" | "ndjson") {
    this.#isList = name === "json";
  }

  head(): string {
    return "";
  }

  row(row: Row): string {
    const before = this.#rows++ === 0 ? "[\n" : ",\n";
    return this.#isList ? before + JSON.stringify(row) : `${JSON.stringify(row)}\n`;
  }

  end(): string {
    if (!this.#isList) return "";
    return this.#rows === 0 ? "[]\n" : "\n]\n";
  }
}
