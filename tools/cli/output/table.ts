// What a peer sent, shown on a terminal: no control characters, columns by their width.
import Table from "cli-table3";
import stringWidth from "string-width";
import { BoundedOutput, leftOutLine } from "../../../hosts/node/bounded-output.js";

const CONTROL = /[\p{Cc}\p{Bidi_Control}]/gu;
const BEYOND_JSON = /[\u007f-\u009f\p{Bidi_Control}]/gu;

/** One line of text that leaves the terminal as it is. */
export function plain(text: string): string {
  return text.replace(CONTROL, "\ufffd");
}

/** Lines of text that leave the terminal as it is. */
export function plainLines(text: string): string {
  return text.split(/\r?\n/).map(plain).join("\n");
}

/** A value as a cell: text as it is, the rest as JSON; absent is a dash. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return "-";
  return plain(typeof value === "string" ? value : JSON.stringify(value));
}

const graphemes = new Intl.Segmenter();

/** So much of a line as finds room in `width` columns; what is left out is an ellipsis. */
export function clip(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let clipped = "";
  let used = 1;
  for (const { segment } of graphemes.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    clipped += segment;
  }
  return `${clipped}…`;
}

/** Between two columns. */
const GAP = 2;
const NO_BORDER = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((end) => [`${side}${end}`, ""]),
  ),
);

/**
 * Rows under a head. Cells are made plain, and cut to what fits the terminal unless all of it is asked for; the widest columns give way
 * first.
 */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  { wide = false, columns = columnsOf() }: { wide?: boolean | undefined; columns?: number } = {},
): string {
  const lines = [head.map(plain), ...rows.map((row) => row.map(cell))];
  const needed = head.map((_, column) => Math.max(...lines.map((line) => stringWidth(line[column] ?? ""))));
  const widths = wide ? needed : fitted(needed, columns - GAP * (head.length - 1));
  const drawn = new Table({
    chars: { ...NO_BORDER, middle: "" },
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [], compact: true },
    colWidths: widths.map((width) => width + GAP),
  });
  for (const line of lines) drawn.push(line.map((text, column) => clip(text, widths[column] ?? 0)));
  const shown = drawn.toString().split("\n");
  return shown.map((line) => `${line.trimEnd()}\n`).join("");
}

/** The same widths, or such that they fit: what is wider than a limit has the limit. */
function fitted(widths: readonly number[], room: number): number[] {
  let limit = Math.max(...widths);
  const sum = (): number => widths.reduce((all, width) => all + Math.min(width, limit), 0);
  while (limit > 1 && sum() > room) limit--;
  return widths.map((width) => Math.min(width, limit));
}

/** Of the terminal; of anything else as many as `COLUMNS` says, or no limit. */
export function columnsOf(
  { isTTY, columns }: { isTTY?: boolean; columns?: number } = process.stdout,
  { COLUMNS }: NodeJS.ProcessEnv = process.env,
): number {
  if (isTTY) return columns || 80;
  return /^[1-9]\d{0,4}$/.test(COLUMNS ?? "") ? Number(COLUMNS) : Number.POSITIVE_INFINITY;
}

/** `2026-01-31 12:00:00`, local time; a dash for none. */
export function moment(ms: unknown): string {
  if (typeof ms !== "number" || !Number.isFinite(ms)) return "-";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "-";
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** How long ago, in one unit: `12 s`, `3 min`, `5 h`, `2 d`. */
export function ago(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} d`;
}

export function out(text: string): void {
  process.stdout.write(text);
}

let following: BoundedOutput<string> | undefined;
let noting: BoundedOutput<string> | undefined;

/** For a command that goes on until it is stopped: left out, and counted, while nobody reads. */
export function outWhileRead(text: string): void {
  following ??= new BoundedOutput<string>(process.stdout, (count) => void note(leftOutLine(count)));
  following.write(text);
}

/** As `note`, for a command that goes on until it is stopped. */
export function noteWhileRead(text: string): void {
  noting ??= new BoundedOutput<string>(process.stderr, (count) => `${leftOutLine(count)}\n`);
  noting.write(`${text}\n`);
}

/** Lines in a peer's own words: unchanged for a file or pipe, and such that they leave a terminal as it is. */
export function forStream(text: string, { isTTY }: { isTTY?: boolean } = process.stdout): string {
  return isTTY ? plainLines(text) : text;
}

/** JSON that leaves the terminal as it is: JSON.stringify escapes only the control characters below U+0020. */
export function tameJson(value: unknown, indent?: number): string {
  const hex = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(BEYOND_JSON, hex);
}

export function outJson(value: unknown): void {
  out(`${tameJson(value, 2)}\n`);
}

/** Beside the result: for the person who reads along. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}
