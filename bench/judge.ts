// From a row's lines to the table's: medians, ratio, spread, and whether the target is reached.
import { columns } from "./columns.js";
import { type Figures, type Line, list, median, type Row } from "./row.js";

/** An entry of results.json. */
export interface Result {
  readonly id: number;
  /** What was measured, with its unit. */
  readonly name: string;
  readonly mote: number;
  readonly alternative: number | null;
  readonly limit: number | null;
  readonly ratio: number | null;
  /** Bound of the ratio, or of Mote's figure where there is no ratio; null: given beside. */
  readonly target: number | null;
  readonly ok: boolean;
  /** How often it was measured: 7, or 3 in a quick run. */
  readonly times?: number;
}

/** What was measured now in place of what the same rows had, each row whole, in the order of the rows. */
export const merged = (before: readonly Result[], now: readonly Result[]): Result[] => {
  const measured = new Set(now.map(({ id }) => id));
  return [...before.filter(({ id }) => !measured.has(id)), ...now].sort((a, b) => a.id - b.id);
};

export interface Judged extends Result {
  /** Least and most of what has the target; undefined if it is the same every time. */
  readonly spread: readonly [number, number] | undefined;
}

export function judge(row: Pick<Row, "id" | "name" | "target">, line: Line): Judged {
  const ratios = line.ratio ?? ratiosOf(line);
  const judged = ratios ?? line.mote;
  const target = line.target === undefined ? (row.target ?? null) : line.target;
  const value = median(judged);
  const all = list(judged);
  const least = Math.min(...all);
  const most = Math.max(...all);
  return {
    id: row.id,
    name: `${line.what === undefined ? row.name : `${row.name}: ${line.what}`} (${line.unit})`,
    mote: tidy(median(line.mote)),
    alternative: line.alternative === undefined ? null : tidy(median(line.alternative)),
    limit: line.limit === undefined ? null : tidy(median(line.limit)),
    ratio: ratios === undefined ? null : tidy(value),
    target,
    ok: target === null || value <= target,
    spread: least === most ? undefined : [tidy(least), tidy(most)],
  };
}

function ratiosOf({ mote, alternative, limit }: Line): Figures | undefined {
  const other = limit ?? alternative;
  if (other === undefined) return undefined;
  const ours = list(mote);
  const theirs = list(other);
  return ours.length === theirs.length
    ? ours.map((figure, i) => figure / theirs[i]!)
    : median(mote) / median(other);
}

/** Five digits say all that a measurement can. */
function tidy(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(5));
}

const HEADINGS = ["#", "what", "Mote", "alternative", "limit", "ratio", "target", "ok", "spread"] as const;

/** One table for people. */
export function table(results: readonly Judged[]): string {
  const rows = results.map((result) => {
    const { id, name, mote, alternative, limit, ratio, target, ok, spread } = result;
    const bound = target === null ? "" : `<= ${shown(target)}`;
    const verdict = target === null ? "" : ok ? "ok" : "MISSED";
    const range = spread ? `${shown(spread[0])} to ${shown(spread[1])}` : "none";
    return [
      String(id),
      name,
      shown(mote),
      shown(alternative),
      shown(limit),
      shown(ratio),
      bound,
      verdict,
      range,
    ];
  });
  return columns([[...HEADINGS], ...rows], (column) => column === 1 || column >= 7).join("\n");
}

function shown(value: number | null): string {
  if (value === null) return "";
  if (Number.isInteger(value)) return value.toLocaleString("en-US");
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en-US");
  return size >= 1 ? value.toFixed(2) : value.toPrecision(2);
}
