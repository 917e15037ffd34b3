// The one table view of the local platform: temperatures of the sample's devices, minute by minute.
import type { Device } from "../devices.js";

export const VIEW_ID = "6d6f7465-0000-4000-8000-000000000001";
/** The view's filter, by names of devices. */
export const FILTER = "Device";
export const LABELS = ["Device", "Minute", "Average", "Lowest", "Highest", "Points"] as const;
/** Range of the view itself. */
export const LAST_MS = 3_600_000;
const KEY = "temperature";
const MINUTE_MS = 60_000;

/** Milliseconds since 1970, both included. */
export interface Span {
  readonly startTs: number;
  readonly endTs: number;
}

/** By label. Dates are text of ms since 1970; a measure without numbers is absent. */
export type ReportRow = Record<string, string | number>;

interface Minute {
  points: number;
  readonly numbers: number[];
}

/** Rows by device and minute, one device at a time. */
export function* reportRows(devices: readonly Device[], span: Span): Generator<ReportRow> {
  for (const device of [...devices].sort((one, other) => (one.name < other.name ? -1 : 1)))
    for (const [minute, { points, numbers }] of minutesOf(device, span)) {
      const row: ReportRow = { Device: device.name, Minute: String(minute) };
      if (numbers.length > 0) {
        row.Average = numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
        row.Lowest = numbers.reduce((one, other) => Math.min(one, other));
        row.Highest = numbers.reduce((one, other) => Math.max(one, other));
      }
      yield { ...row, Points: points };
    }
}

function minutesOf(device: Device, { startTs, endTs }: Span): Map<number, Minute> {
  const minutes = new Map<number, Minute>();
  const range = { startTs, endTs: endTs + 1, limit: Number.MAX_SAFE_INTEGER, ascending: true };
  for (const { ts, value } of device.series.range(KEY, range)) {
    const start = Math.floor(ts / MINUTE_MS) * MINUTE_MS;
    const minute = minutes.get(start) ?? { points: 0, numbers: [] };
    minutes.set(start, minute);
    minute.points++;
    if (typeof value === "number" || typeof value === "bigint") minute.numbers.push(Number(value));
  }
  return minutes;
}
