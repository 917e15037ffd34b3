// A report as text, row by row.
import type { Row } from "../../../src/report/index.js";
import { record } from "../output/csv.js";
import { TableFormat } from "./table.js";

export const FORMATS = ["table", "csv", "json", "ndjson"] as const;
export type FormatName = (typeof FORMATS)[number];

/** Writes each part of a report as text. */
export interface Format {
  /** The columns must be known before the first row. */
  readonly needsColumns: boolean;
  head(columns: readonly string[]): string;
  row(row: Row): string;
  end(): string;
  /** Describes omitted columns. */
  readonly leftOut?: string | undefined;
}

/** `width`: of the terminal; undefined without one. */
export function formatOf(name: FormatName, width: number | undefined): Format {
  if (name === "table") return new TableFormat(width);
  return name === "csv" ? csvFormat() : jsonFormat(name === "json");
}

function csvFormat(): Format {
  let columns: readonly string[] = [];
  return {
    needsColumns: true,
    head: (labels) => {
      columns = labels;
      return record(labels);
    },
    row: (row) => record(columns.map((label) => (Object.hasOwn(row, label) ? row[label] : undefined))),
    end: () => "",
  };
}

/** One object per line; `isList`: as one array. */
function jsonFormat(isList: boolean): Format {
  let rows = 0;
  return {
    needsColumns: false,
    head: () => "",
    row: (row) => {
      if (!isList) return `${JSON.stringify(row)}\n`;
      return (rows++ === 0 ? "[\n" : ",\n") + JSON.stringify(row);
    },
    end: () => (!isList ? "" : rows === 0 ? "[]\n" : "\n]\n"),
  };
}
