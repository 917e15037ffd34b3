// Saved table views of the report API. A file of them is a list:
//
//   [{"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301","name":"Climate by day",
//     "columns":[{"label":"Device","column":"device"},{"label":"Day","column":"date","unit":"day"},
//                {"label":"Average","column":"avg","key":"temperature"}],
//     "range":{"lastMs":604800000},
//     "filters":{"Greenhouse":{"by":"device","values":["greenhouse-7"]}}}]
//
// column: device, date (unit raw, minute, hour or day, in UTC), or avg, min, max, sum, count of a
// key. range: the last so many ms, or startTs and endTs, both included; a day if there is none. A
// filter is by device, profile or label (of a device); no values: all pass.
import { randomIds } from "../common/ids.js";
import { Refused } from "../common/refused.js";

export const UNITS = { raw: 1, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
export const MEASURES = ["avg", "min", "max", "sum", "count"] as const;
const FILTERS = ["device", "profile", "label"] as const;

export type Unit = keyof typeof UNITS;
export type Measure = (typeof MEASURES)[number];

export type Column =
  | { readonly label: string; readonly column: "device" }
  | { readonly label: string; readonly column: "date"; readonly unit: Unit }
  | { readonly label: string; readonly column: Measure; readonly key: string };

export type ViewRange = { readonly lastMs: number } | { readonly startTs: number; readonly endTs: number };

export interface ViewFilter {
  readonly by: (typeof FILTERS)[number];
  readonly values: readonly string[];
}

export interface TableView {
  readonly id: string;
  readonly name: string;
  readonly columns: readonly Column[];
  readonly range: ViewRange;
  readonly filters: Readonly<Record<string, ViewFilter>>;
}

/** What a fresh local platform has: the sample's devices, minute by minute. */
export const DEFAULT_VIEW: TableView = {
  id: "6d6f7465-0000-4000-8000-000000000001",
  name: "Temperature by minute",
  columns: [
    { label: "Device", column: "device" },
    { label: "Minute", column: "date", unit: "minute" },
    { label: "Average", column: "avg", key: "temperature" },
    { label: "Lowest", column: "min", key: "temperature" },
    { label: "Highest", column: "max", key: "temperature" },
    { label: "Points", column: "count", key: "temperature" },
  ],
  range: { lastMs: UNITS.hour },
  filters: { Device: { by: "device", values: [] } },
};

const MOST = { views: 1000, columns: 100 };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The views of a file. Throws Refused, which says what is wrong with which view. */
export function readViews(json: unknown): TableView[] {
  if (!Array.isArray(json) || json.length === 0 || json.length > MOST.views)
    throw new Refused(`expected a list of 1 to ${MOST.views} views`);
  const views = json.map((one, index) => readView(one, `view ${index + 1}`));
  const ids = new Set(views.map(({ id }) => id));
  if (ids.size < views.length) throw new Refused("two views have the same id");
  return views;
}

function readView(json: unknown, where: string): TableView {
  const { id = randomIds.uuid(), name, columns, range, filters } = object(json, where);
  if (typeof id !== "string" || !UUID.test(id)) throw new Refused(`${where}: id must be a UUID`);
  if (typeof name !== "string" || name === "") throw new Refused(`${where}: name is missing`);
  if (!Array.isArray(columns) || columns.length === 0 || columns.length > MOST.columns)
    throw new Refused(`${where}: columns must be a list of 1 to ${MOST.columns}`);
  const all = columns.map((one) => readColumn(one, where));
  if (new Set(all.map(({ label }) => label)).size < all.length)
    throw new Refused(`${where}: two columns have the same label`);
  for (const once of ["device", "date"])
    if (all.filter(({ column }) => column === once).length > 1)
      throw new Refused(`${where}: only one column can be "${once}"`);
  // Rows are made of points, so a view without a measure would be empty.
  if (!all.some((column) => "key" in column))
    throw new Refused(`${where}: one column must be a measure (${MEASURES.join(", ")})`);
  return {
    id: id.toLowerCase(),
    name,
    columns: all,
    range: readRange(range, where),
    filters: readFilters(filters, where),
  };
}

function readColumn(json: unknown, where: string): Column {
  const { label, column, unit = "raw", key } = object(json, `${where}: a column`);
  if (typeof label !== "string" || label === "" || label === "__proto__")
    throw new Refused(`${where}: a column lacks its label`);
  if (column === "device") return { label, column };
  if (column === "date") {
    if (typeof unit === "string" && Object.hasOwn(UNITS, unit)) return { label, column, unit: unit as Unit };
    throw new Refused(`${where}: the unit of "${label}" must be one of ${Object.keys(UNITS).join(", ")}`);
  }
  const measure = MEASURES.find((known) => known === column);
  if (!measure) throw new Refused(`${where}: "${label}" must be device, date, ${MEASURES.join(", ")}`);
  if (typeof key !== "string" || key === "") throw new Refused(`${where}: "${label}" lacks its key`);
  return { label, column: measure, key };
}

function readRange(json: unknown, where: string): ViewRange {
  if (json === undefined) return { lastMs: UNITS.day };
  const { lastMs, startTs, endTs } = object(json, `${where}: range`);
  if (isTime(lastMs) && lastMs > 0) return { lastMs };
  if (isTime(startTs) && isTime(endTs) && startTs <= endTs) return { startTs, endTs };
  throw new Refused(`${where}: range must be lastMs, or startTs and endTs, in milliseconds`);
}

function readFilters(json: unknown, where: string): Record<string, ViewFilter> {
  const entries = Object.entries(object(json ?? {}, `${where}: filters`)).map(([name, one]) => {
    const { by, values = [] } = object(one, `${where}: the filter "${name}"`);
    const known = FILTERS.find((kind) => kind === by);
    if (!known) throw new Refused(`${where}: the filter "${name}" must be by ${FILTERS.join(", ")}`);
    return [name, { by: known, values: texts(values, `${where}: the filter "${name}"`) }] as const;
  });
  return Object.fromEntries(entries);
}

/** Throws Refused. */
export function texts(json: unknown, what: string): string[] {
  if (Array.isArray(json) && json.every((one) => typeof one === "string")) return json as string[];
  throw new Refused(`${what} must be a list of strings`);
}

export function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function object(json: unknown, what: string): Record<string, unknown> {
  if (typeof json === "object" && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new Refused(`${what} must be an object`);
}
