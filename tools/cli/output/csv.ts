// CSV by RFC 4180, in which no text is a formula: a spreadsheet would run what a device sent.
import Papa from "papaparse";

/** Text that a spreadsheet would run as a formula, also in wide letters or after a blank. */
const FORMULA = /^(?![+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$)[=+\-@\t\r\n＝＋－＠]/;

/** Formulas get a leading quote mark, absent values are empty, lists and objects are JSON. */
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
