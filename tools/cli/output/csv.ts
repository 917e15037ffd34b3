// CSV by RFC 4180, in which no text is a formula: a spreadsheet would run what a device sent.

/** What a spreadsheet takes for the beginning of a formula: also in wide letters, or behind a blank that it drops. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL = /[",\r\n]/;

/** A field: text as it is, with a quote mark before what would be a formula; absent is empty; the rest as JSON. */
export function field(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return SPECIAL.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One record with its line end. */
export function record(values: readonly unknown[]): string {
  // A record of one empty field would be an empty line.
  const line = values.map(field).join(",");
  return `${line === "" ? '""' : line}\r\n`;
}

export function csv(head: readonly string[], rows: readonly (readonly unknown[])[]): string {
  return [head, ...rows].map(record).join("");
}
