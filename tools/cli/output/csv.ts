// CSV by RFC 4180, in which no text is a formula: a spreadsheet would run what a device sent.
import Papa from "papaparse";

/** What a spreadsheet takes for the beginning of a formula, also in wide letters or behind a blank that it drops, unless all of it is a number. */
const FORMULA = /^(?![+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$)[=+\-@\t\r\n＝＋－＠]/;

/** Text as it is, with a quote mark before what would be a formula; absent is empty; lists and objects are JSON. */
const field = (value: unknown): unknown =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : value;

/** One record with its line end. */
export function record(values: readonly unknown[]): string {
  const line = Papa.unparse([values.map(field)], { escapeFormulae: FORMULA });
  // A record of one empty field would be an empty line.
  return `${line === "" ? '""' : line}\r\n`;
}

export function csv(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [head, ...rows].map(record).join("");
}
