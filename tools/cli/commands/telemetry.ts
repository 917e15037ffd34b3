import type { Command } from "commander";
import type { Operator } from "../../operator/operator.js";
import type { Reading } from "../../operator/shapes.js";
import { findDevice, refuseMissing } from "../operator/find.js";
import {
  ifAnswered,
  type OperatorFlags,
  operate,
  operateUntilStopped,
  operatorOptions,
} from "../operator/operator.js";
import { type Row, readRows } from "../operator/rows.js";
import { csv } from "../output/csv.js";
import { untilUnread } from "../output/reader.js";
import {
  cell,
  forStream,
  instant,
  moment,
  note,
  out,
  outJson,
  outWhileRead,
  plain,
  table,
  tameJson,
} from "../output/table.js";
import { pause, stopSignals } from "../stop.js";
import { parseLast, parseTime } from "../times.js";
import { count, UsageError } from "../usage.js";

interface TelemetryFlags extends OperatorFlags {
  from?: number;
  to?: number;
  limit: number;
  csv?: boolean;
  follow?: boolean;
}

/** Time between two reads of --follow. */
const FOLLOW_MS = 1_000;

const HELP = `
Shows the latest value of each key, or with --from or --to a time range. Times are dates (2026-01-31, 2026-01-31T12:00), milliseconds since 1970, -7d,
-12h, -30m, today, yesterday or now. A day given to --to is included. Tables round numbers; --json and --csv do not.

--follow prints the latest values, then each new value, until Ctrl-C. It reads once a second; of several values between two reads, it prints the last.

Examples:
  mote telemetry greenhouse-7
  mote telemetry greenhouse-7 temperature humidity --from -1h
  mote telemetry greenhouse-7 temperature --from yesterday --to yesterday --csv > day.csv
  mote telemetry greenhouse-7 --follow`;

export function telemetryCommand(program: Command): void {
  const telemetry = program.command("telemetry").description("show telemetry of a device");
  telemetry.addHelpText("after", HELP);
  operatorOptions(telemetry.command("get", { isDefault: true }))
    .description("show the latest values, or a time range")
    .argument("<device>", "name or id")
    .argument("[key...]", "telemetry keys (default: all)")
    .option("--from <time>", "start of the range", (text) => parseTime(text))
    .option("--to <time>", "end of the range (default: now)", (text) => parseLast(text))
    .option("--limit <number>", "with --from or --to: maximum number of rows, from the start", count, 10_000)
    .option("--csv", "print CSV")
    .option("-f, --follow", "keep printing new values")
    .action(get);
}

async function get(named: string, asked: string[], flags: TelemetryFlags): Promise<void> {
  const wrong = asked.find((key) => !canAsk(key));
  if (wrong !== undefined) throw new UsageError(`invalid key "${wrong}": must be non-empty, without commas`);
  const { from, to } = flags;
  if (from !== undefined && to !== undefined && from > to)
    throw new UsageError("--from must not be later than --to");
  const how: How = { format: flags.json ? "json" : flags.csv ? "csv" : "table" };
  if (flags.follow) {
    if (from !== undefined || to !== undefined || flags.csv)
      throw new UsageError("--follow cannot be combined with --from, --to or --csv");
    return follow(named, asked, flags);
  }
  await operate(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    if (from === undefined && to === undefined) return latest(operator, id.id, asked, how);
    const all = (await operator.timeSeries.keys(id.id)).sort();
    refuseMissing(asked, all, all);
    const keys = asked.length > 0 ? asked : askable(all);
    const wanted = { keys, from: from ?? 0, to: to ?? Date.now(), limit: flags.limit };
    const { rows, more } = keys.length > 0 ? await readRows(operator.timeSeries, id.id, wanted) : NOTHING;
    if (rows.length > 0 || how.format !== "table") show(keys, rows, how);
    if (rows.length === 0) note("No telemetry in this range.");
    if (more) note(`Showing the first ${flags.limit} rows (show more: --limit N).`);
  });
}

const NOTHING = { rows: [], more: false };

/** The platform splits lists of keys at commas. */
function canAsk(key: string): boolean {
  return key !== "" && !key.includes(",");
}

function askable(keys: readonly string[]): string[] {
  const left = keys.filter((key) => !canAsk(key));
  if (left.length > 0) note(`Skipped keys with commas: ${left.map(plain).join("  ")}`);
  return keys.filter(canAsk);
}

interface How {
  format: "table" | "csv" | "json";
}

async function latest(operator: Operator, id: string, asked: string[], how: How): Promise<void> {
  const found = await operator.timeSeries.latest(id, asked.length > 0 ? asked : undefined);
  const names = Object.keys(found);
  if (names.length > 0 || asked.length === 0 || how.format !== "table") printLatest(found, asked, how);
  if (!asked.every((key) => names.includes(key)))
    refuseMissing(asked, names, await operator.timeSeries.keys(id));
}

function printLatest(found: Record<string, Reading>, asked: readonly string[], how: How): void {
  if (how.format === "json") {
    outJson(found);
    return;
  }
  const order = asked.length > 0 ? Object.keys(found) : Object.keys(found).sort();
  const rows = order.map((key) => {
    const { ts, value } = found[key] as Reading;
    return [key, value, ts] as const;
  });
  if (how.format === "csv") {
    out(forStream(csv(["key", "value", "ts"], rows)));
    return;
  }
  if (rows.length === 0) {
    note("No telemetry.");
    return;
  }
  out(
    table(
      ["KEY", "VALUE", "TIME"],
      rows.map(([key, value, ts]) => [key, value, moment(ts)]),
    ),
  );
}

function show(keys: readonly string[], rows: readonly Row[], { format }: How): void {
  const lines = rows.map(({ ts, values }) => [ts, ...keys.map((key) => values[key])] as const);
  const shown = (): unknown[][] => lines.map(([ts, ...cells]) => [instant(ts), ...cells]);
  if (format === "json") outJson(rows);
  else if (format === "csv") out(forStream(csv(["ts", ...keys], lines)));
  else out(table(["TIME", ...keys], shown()));
}

function follow(named: string, asked: string[], flags: TelemetryFlags): Promise<void> {
  return operateUntilStopped(flags, async (operator) => {
    const { id } = await findDevice(operator, named);
    const stop = AbortSignal.any([stopSignals().stop, untilUnread()]);
    const seen = new Map<string, string>();
    while (!stop.aborted) {
      const keys = asked.length > 0 ? asked : undefined;
      const latest = await ifAnswered(operator.timeSeries.latest(id.id, keys));
      if (stop.aborted) return;
      for (const line of newLines(latest ?? {}, seen, flags.json === true)) outWhileRead(line);
      await pause(FOLLOW_MS, stop);
    }
  });
}

/** Lines of the readings that differ from those seen, oldest first. */
function newLines(latest: Record<string, Reading>, seen: Map<string, string>, json: boolean): string[] {
  const fresh = Object.entries(latest).filter(([key, reading]) => {
    const text = JSON.stringify(reading);
    const isNew = seen.get(key) !== text;
    seen.set(key, text);
    return isNew;
  });
  const ordered = fresh.sort(([, one], [, other]) => one.ts - other.ts);
  return ordered.map(([key, { ts, value }]) =>
    json ? `${tameJson({ ts, key, value })}\n` : `${instant(ts)}  ${cell(key)} = ${cell(value)}\n`,
  );
}
