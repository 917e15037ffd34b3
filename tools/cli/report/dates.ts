// Dates come as milliseconds since 1970, and nothing distinguishes them from other numbers.
import type { Cell, Row } from "../../../src/report/index.js";

const DIGITS = /^-?\d{1,16}$/;
/** Unix time in ms has 13 digits from 2001 on. */
const LIKELY = /^\d{13}$/;

/** Limit of labels to watch, because each row may have new ones. */
const MOST = 1000;

/** A value of a date column as ISO 8601 in UTC; a value that is not a time is unchanged. */
export function isoDate(value: Cell): Cell {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || !DIGITS.test(text)) return value;
  const date = new Date(Number(text));
  return Number.isNaN(date.getTime()) ? value : date.toISOString();
}

/** Rows with the chosen columns as dates; watches the others for what looks like one. */
export class Dates {
  readonly #chosen: readonly string[];
  /** By label: whether all values so far look like dates. */
  readonly #looks = new Map<string, boolean>();

  constructor(chosen: readonly string[]) {
    this.#chosen = chosen;
  }

  apply(row: Row): Row {
    for (const [label, value] of Object.entries(row)) {
      if (value === null || value === "" || this.#looks.get(label) === false) continue;
      if (this.#looks.size >= MOST && !this.#looks.has(label)) continue;
      this.#looks.set(label, LIKELY.test(String(value)));
    }
    if (this.#chosen.length === 0) return row;
    const dated: Record<string, Cell> = { ...row };
    for (const label of this.#chosen) {
      const value = Object.hasOwn(row, label) ? row[label] : undefined;
      if (value !== undefined) dated[label] = isoDate(value);
    }
    return dated;
  }

  /** Columns that were not chosen, and hold nothing but what looks like a date. */
  get likely(): string[] {
    return [...this.#looks]
      .filter(([label, looks]) => looks && !this.#chosen.includes(label))
      .map(([label]) => label);
  }
}
