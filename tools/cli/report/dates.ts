// Dates come as milliseconds since 1970, and nothing distinguishes them from other numbers.
import type { Cell, Row } from "../../../src/report/index.js";

const DIGITS = /^-?\d{1,16}$/;

/** A value of a date column as ISO 8601 in UTC; a value that is not a time is unchanged. */
export function isoDate(value: Cell): Cell {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !DIGITS.test(text)) return value;
  const date = new Date(Number(text));
  return Number.isNaN(date.getTime()) ? value : date.toISOString();
}

/** The row with the columns of these labels as dates. */
export function withDates(row: Row, labels: readonly string[]): Row {
  const dated = labels.filter((label) => Object.hasOwn(row, label));
  return { ...row, ...Object.fromEntries(dated.map((label) => [label, isoDate(row[label] ?? null)])) };
}
