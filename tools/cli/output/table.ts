// Prints tables and text on a terminal, without control characters from peers.
import Table from "cli-table3";
import stringWidth from "string-width";
import { BoundedOutput, leftOutLine } from "../../../hosts/node/bounded-output.js";
import { asCalled } from "../invocation.js";
import { colored } from "./colors.js";

const CONTROL = /[\p{Cc}\p{Bidi_Control}]/gu;
const BEYOND_JSON = /[\u007f-\u009f\p{Bidi_Control}]/gu;

/** Replaces control characters, which could change the terminal. */
export function plain(text: string): string {
  return text.replace(CONTROL, "\ufffd");
}

/** Like `plain`, for several lines. A tab becomes four spaces. */
export function plainLines(text: string): string {
  return text.replaceAll("\t", "    ").split(/\r?\n/).map(plain).join("\n");
}

/** A word of a command that can be pasted: quoted for a shell where it has to be. */
export function quoted(text: string): string {
  const shown = plain(text);
  return /^[\w./:@%+,=][-\w./:@%+,=]*$/.test(shown) ? shown : `'${shown.replaceAll("'", "'\\''")}'`;
}

/** Names listed in a message; more are counted. */
const NAMED = 5;

/** `a, b, c, d, e and 3 more` */
export function some(names: readonly string[]): string {
  const more = names.length - NAMED;
  const shown = names.slice(0, NAMED).map(plain).join(", ");
  return more > 0 ? `${shown} and ${more} more` : shown;
}

/** Significant digits of a number shown to people. */
const DIGITS = 7;

/** Formats a value as a cell: text unchanged, numbers rounded, the rest as JSON; "-" for none. */
export function cell(value: unknown): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toPrecision(DIGITS)));
  return plain(typeof value === "string" ? value : JSON.stringify(value));
}

const graphemes = new Intl.Segmenter();

/** Truncates a line to `width` columns, ending in an ellipsis. */
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

/** Spaces between two columns. */
const GAP = 2;
const NO_BORDER = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"].flatMap((side) =>
    ["", "-mid", "-left", "-right"].map((end) => [`${side}${end}`, ""]),
  ),
);

interface TableOptions {
  columns?: number;
  paint?: (text: string, column: number) => string;
}

/** Formats rows. Truncates cells to the terminal, widest columns first. */
export function table(
  head: readonly string[],
  rows: readonly (readonly unknown[])[],
  { columns = columnsOf(), paint = (text) => text }: TableOptions = {},
): string {
  const lines = [head.map(plain), ...rows.map((row) => row.map(cell))];
  const needed = head.map((_, column) => Math.max(...lines.map((line) => stringWidth(line[column] ?? ""))));
  const widths = fitted(needed, columns - GAP * (head.length - 1));
  const drawn = new Table({
    chars: { ...NO_BORDER, middle: "" },
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [], compact: true },
    colWidths: widths.map((width) => width + GAP),
  });
  for (const [row, line] of lines.entries()) {
    const cells = line.map((text, column) => clip(text, widths[column] ?? 0));
    drawn.push(cells.map((text, column) => (row === 0 ? colored("bold", text) : paint(text, column))));
  }
  const shown = drawn.toString().split("\n");
  return shown.map((line) => `${line.trimEnd()}\n`).join("");
}

/** Limits the widest columns so that all fit into `room`. */
function fitted(widths: readonly number[], room: number): number[] {
  let limit = Math.max(...widths);
  const sum = (): number => widths.reduce((all, width) => all + Math.min(width, limit), 0);
  while (limit > 1 && sum() > room) limit--;
  return widths.map((width) => Math.min(width, limit));
}

/** Width of the terminal. Elsewhere `COLUMNS`, or no limit. */
export function columnsOf(
  { isTTY, columns }: { isTTY?: boolean; columns?: number } = process.stdout,
  { COLUMNS }: NodeJS.ProcessEnv = process.env,
): number {
  if (isTTY) return columns || 80;
  return /^[1-9]\d{0,4}$/.test(COLUMNS ?? "") ? Number(COLUMNS) : Number.POSITIVE_INFINITY;
}

/** `2026-01-31 12:00:00` in local time; "-" for none. */
export function moment(ms: unknown): string {
  if (typeof ms !== "number" || !Number.isFinite(ms)) return "-";
  const date = new Date(ms);
  if (Number.isNaN(date.getTime())) return "-";
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `2026-01-31 12:00:00.250` in local time; "-" for none. */
export function instant(ms: unknown): string {
  const second = moment(ms);
  if (second === "-") return second;
  return `${second}.${String(new Date(ms as number).getMilliseconds()).padStart(3, "0")}`;
}

export function out(text: string): void {
  process.stdout.write(text);
}

let following: BoundedOutput<string> | undefined;
let noting: BoundedOutput<string> | undefined;

/** Like `out`, for commands that keep running: drops and counts text while nobody reads. */
export function outWhileRead(text: string): void {
  following ??= new BoundedOutput<string>(process.stdout, (count) => void note(leftOutLine(count)));
  following.write(text);
}

/** Like `note`, for commands that keep running. */
export function noteWhileRead(text: string): void {
  noting ??= new BoundedOutput<string>(process.stderr, (count) => `${leftOutLine(count)}\n`);
  noting.write(`${plainLines(text)}\n`);
}

/** A peer's lines: unchanged for a file or pipe, without control characters for a terminal. */
export function forStream(text: string, { isTTY }: { isTTY?: boolean } = process.stdout): string {
  return isTTY ? plainLines(text) : text;
}

/** JSON without control characters. JSON.stringify escapes only those below U+0020. */
export function tameJson(value: unknown, indent?: number): string {
  const hex = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(BEYOND_JSON, hex);
}

export function outJson(value: unknown): void {
  out(`${tameJson(value, 2)}\n`);
}

/** Prints a message for people to standard error, without control characters of a peer. */
export function note(text: string): void {
  process.stderr.write(`${plainLines(asCalled(text))}\n`);
}
