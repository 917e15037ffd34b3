// What a table view shows of the telemetry there is.
import type { Device } from "../devices.js";
import type { Value } from "../values.js";
import { type Column, type Measure, type TableView, UNITS } from "./table-views.js";

/** Milliseconds since 1970, both included. */
export interface Span {
  readonly startTs: number;
  readonly endTs: number;
}

/** By label. Dates are text of ms since 1970; a measure without numbers is absent. */
export type ReportRow = Record<string, string | number>;

interface Total {
  count: number;
  numbers: number;
  sum: number;
  min: number;
  max: number;
}

type Measured = Extract<Column, { key: string }>;

const SHOW: Readonly<Record<Measure, (total: Total) => number>> = {
  avg: ({ sum, numbers }) => sum / numbers,
  min: ({ min }) => min,
  max: ({ max }) => max,
  sum: ({ sum }) => sum,
  count: ({ count }) => count,
};

/** Rows by device and date. With a device column, computes one device at a time. */
export function* reportRows(view: TableView, devices: readonly Device[], span: Span): Generator<ReportRow> {
  const sorted = [...devices].sort((one, other) => (one.name < other.name ? -1 : 1));
  if (!view.columns.some(({ column }) => column === "device")) {
    yield* rowsOf(view.columns, sorted, span);
    return;
  }
  for (const device of sorted) yield* rowsOf(view.columns, [device], span);
}

function* rowsOf(columns: readonly Column[], devices: readonly Device[], span: Span): Generator<ReportRow> {
  const measured = columns.filter((column): column is Measured => "key" in column);
  const date = columns.find((column) => column.column === "date");
  const unit = date?.column === "date" ? UNITS[date.unit] : undefined;
  const groups = collect(measured, devices, span, unit);
  for (const bucket of [...groups.keys()].sort((one, other) => one - other)) {
    const totals = groups.get(bucket) as Total[];
    const row: ReportRow = {};
    for (const column of columns) {
      if (column.column === "device") row[column.label] = devices[0]?.name ?? "";
      else if (column.column === "date") row[column.label] = String(bucket);
      else show(row, column, totals[measured.indexOf(column)] as Total);
    }
    yield row;
  }
}

/** One total for each measure, by the beginning of the time unit; all under 0 without a date. */
function collect(
  measured: readonly Measured[],
  devices: readonly Device[],
  { startTs, endTs }: Span,
  unit: number | undefined,
): Map<number, Total[]> {
  const groups = new Map<number, Total[]>();
  const range = { startTs, endTs: endTs + 1, limit: Number.MAX_SAFE_INTEGER, ascending: true };
  for (const device of devices) {
    measured.forEach(({ key }, index) => {
      for (const { ts, value } of device.series.range(key, range)) {
        const bucket = unit === undefined ? 0 : Math.floor(ts / unit) * unit;
        let totals = groups.get(bucket);
        if (!totals) {
          totals = measured.map(() => ({
            count: 0,
            numbers: 0,
            sum: 0,
            min: Number.POSITIVE_INFINITY,
            max: Number.NEGATIVE_INFINITY,
          }));
          groups.set(bucket, totals);
        }
        add(totals[index] as Total, value);
      }
    });
  }
  return groups;
}

function add(total: Total, value: Value): void {
  total.count++;
  if (typeof value !== "number" && typeof value !== "bigint") return;
  const number = Number(value);
  total.numbers++;
  total.sum += number;
  total.min = Math.min(total.min, number);
  total.max = Math.max(total.max, number);
}

function show(row: ReportRow, { label, column }: Measured, total: Total): void {
  const value = SHOW[column](total);
  if (Number.isFinite(value) && (total.numbers > 0 || column === "count")) row[label] = value;
}
