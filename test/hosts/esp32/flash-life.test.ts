// The table of docs/guides/telemetry.md of how many points a board holds, and how long its flash
// lasts: measured with the outbox on sectors of a board's partition.
import test, { type ExecutionContext } from "ava";
import { readPartitions } from "../../../tools/moddable/esp32/partitions.js";
import { read } from "../../architecture/tree.js";
import { FakeFlash } from "../../fakes/flash.js";
import { rig } from "../../src/agent/queue/rig.js";

const SECTOR = 4096;
/** What makers of flash promise for each sector. */
const CYCLES = 100_000;
const YEAR_S = 365.25 * 86_400;
const POINT = new TextEncoder().encode('{"temperature":21.53,"humidity":45.2}');
/** Points that leave together: what is recorded within a second, the default of `batchAgeMs`. */
const batchOf = (perSecond: number): number => Math.max(1, Math.min(50, perSecond));

const partition = readPartitions(read("hosts/esp32/flash/sdkconfig/partitions-4mb.csv")).find(
  ({ name }) => name === "outbox",
);
const size = partition?.size ?? 0;

function held(): number {
  const { outbox } = rig(new FakeFlash(size, SECTOR));
  while (outbox.dropped.full === 0) outbox.append(POINT, undefined);
  return outbox.waiting;
}

/**
 * Years until the most erased sector is worn out, at so many points a second that are delivered in
 * batches.
 */
function years(perSecond: number): number {
  const flash = new FakeFlash(size, SECTOR);
  const { outbox } = rig(flash);
  const batch = batchOf(perSecond);
  const points = 60_000;
  for (let n = 0; n < points; n += batch) {
    for (let i = 0; i < batch; i++) outbox.append(POINT, undefined);
    outbox.confirm(outbox.next);
  }
  const perPoint = flash.erases.reduce((sum, erases) => sum + erases, 0) / points / flash.erases.length;
  return CYCLES / perPoint / perSecond / YEAR_S;
}

/** Two digits: nobody knows more of flash. */
const rounded = (value: number): string =>
  Number(value.toPrecision(2)).toLocaleString("en", { maximumFractionDigits: 1 });

function duration(seconds: number): string {
  const [unit, name] = UNITS.find(([length]) => seconds >= 2 * length)!;
  return `${rounded(seconds / unit)} ${name}`;
}

const UNITS = [
  [86_400, "days"],
  [3600, "hours"],
  [60, "minutes"],
] as const;

/** Nothing else of a board lives so long. */
const lifetime = (value: number): string => (value > 100 ? "over 100" : rounded(value));

const RATES = [
  ["1 a minute", 1 / 60],
  ["1 in 10 s", 1 / 10],
  ["1 a second", 1],
  ["10 a second", 10],
] as const;

test("docs/guides/telemetry.md's table of points held and years of flash is what the outbox does", (t: ExecutionContext) => {
  const most = held();
  const rows = RATES.map(
    ([name, rate]) => `| ${name} | ${duration(most / rate)} | ${lifetime(years(rate))} |`,
  );
  const table = read("docs/guides/telemetry.md");
  t.true(table.includes(`holds ${Number(most.toPrecision(2)).toLocaleString("en")} points`), `holds ${most}`);
  for (const row of rows) t.true(table.includes(row), rows.join("\n"));
});
