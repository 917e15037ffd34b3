import test from "ava";
import fc from "fast-check";
import { readViews } from "../../../tools/platform/core/reports/table-views.js";
import type { Platform, PlatformServerOptions } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { platformFor } from "../platform-for.js";
import { jwtOf } from "./rig.js";

const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 0, 10, 12);
const COLUMNS = [
  { label: "Device", column: "device" },
  { label: "When", column: "date", unit: "hour" },
  ...["avg", "min", "max", "sum", "count"].map((column) => ({ label: column, column, key: "t" })),
  { label: "other", column: "sum", key: "h" },
];

interface ReportAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever came
  json: any;
}

interface Place {
  platform: Platform;
  jwt: string;
  ask(body: unknown, headers?: Record<string, string>, path?: string): Promise<ReportAnswer>;
}

const API = "/apiAnalytics/publicApi/buildReport";

async function begin(
  t: { teardown(end: () => unknown): void },
  view: object = {},
  options: PlatformServerOptions = {},
): Promise<Place> {
  const views = readViews([
    { id: VIEW, name: "v", columns: COLUMNS, range: { startTs: NOON - DAY, endTs: NOON }, ...view },
  ]);
  const platform = await platformFor(t, { views, ...options });
  const token = (await jwtOf(platform)) ?? "";
  const ask: Place["ask"] = async (body, headers = { jwt: token }, path = API) => {
    const response = await fetch(platform.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    return { status: response.status, json: await response.json() };
  };
  return { platform, jwt: token, ask };
}

type Points = readonly {
  readonly device: string;
  readonly key: string;
  readonly ts: number;
  readonly value: number;
}[];

function store({ core }: Platform, points: Points): void {
  for (const { device, key, ts, value } of points) {
    const known =
      core.devices.byName(device) ?? core.createDevice({ name: device, profileId: core.profiles.default.id });
    core.receiveTelemetry(known, ts, [[key, value]]);
  }
}

/** Of points that share no device, key and time. */
function expected(points: Points, unit: number, from: number, to: number): object[] {
  const mine = points.filter(({ ts }) => ts >= from && ts <= to);
  const names = [...new Set(mine.map(({ device }) => device))].sort((a, b) => (a < b ? -1 : 1));
  return names.flatMap((device) => {
    const own = mine.filter((point) => point.device === device);
    const starts = [...new Set(own.map(({ ts }) => ts - (ts % unit)))].sort((a, b) => a - b);
    return starts.map((start) => {
      const of = (key: string): number[] =>
        own
          .filter((point) => point.key === key && point.ts >= start && point.ts < start + unit)
          .map(({ value }) => value);
      const [t, h] = [of("t"), of("h")];
      const sum = (all: number[]): number => all.reduce((one, other) => one + other, 0);
      return {
        Device: device,
        When: `${start}`,
        ...(t.length > 0 && {
          avg: sum(t) / t.length,
          min: Math.min(...t),
          max: Math.max(...t),
          sum: sum(t),
        }),
        count: t.length,
        ...(h.length > 0 && { other: sum(h) }),
      };
    });
  });
}

const point = fc.record({
  device: fc.constantFrom("a", "b", "ü", "B"),
  key: fc.constantFrom("t", "h"),
  // Many in the same minute and hour, or a report would have one point a row.
  ts: fc.oneof(
    fc.integer({ min: NOON - 2 * DAY, max: NOON + DAY }),
    fc.integer({ min: NOON - 10_800_000, max: NOON }),
    fc.integer({ min: NOON - 90_000, max: NOON + 1000 }),
  ),
  // Quarters: their sums are exact whatever the order.
  value: fc.integer({ min: -4000, max: 4000 }).map((n) => n / 4),
});
const distinct = fc.uniqueArray(point, {
  minLength: 30,
  maxLength: 60,
  selector: ({ device, key, ts }) => `${device} ${key} ${ts}`,
});
const UNITS = { raw: 1, minute: 60_000, hour: 3_600_000, day: DAY };

for (const [unit, ms] of Object.entries(UNITS))
  test(`reports by ${unit} agree with a second computation, both ends of a range included`, async (t) => {
    const columns = COLUMNS.map((column) => (column.column === "date" ? { ...column, unit } : column));
    const edges = [NOON - DAY - 1, NOON - DAY, NOON, NOON + 1].map((ts) => ({
      device: "e",
      key: "t",
      ts,
      value: 1,
    }));
    await fc.assert(
      fc.asyncProperty(distinct, async (random) => {
        const ends: (() => unknown)[] = [];
        const points = [...random, ...edges];
        const { platform, ask } = await begin({ teardown: (end) => ends.push(end) }, { columns });
        try {
          store(platform, points);
          const { json } = await ask({ viewConfigId: VIEW });
          t.deepEqual(json.dataTable, expected(points, ms, NOON - DAY, NOON));
          const [rangeStartTs, rangeEndTs] = [NOON - 2 * DAY, NOON - DAY];
          const other = await ask({ viewConfigId: VIEW, rangeStartTs, rangeEndTs, filters: {} });
          t.deepEqual(other.json.dataTable, expected(points, ms, rangeStartTs, rangeEndTs));
        } finally {
          for (const end of ends) await end();
        }
      }),
      { numRuns: 8 },
    );
  });

const POINTS: Points = [
  { device: "a", key: "t", ts: NOON - 1000, value: 20 },
  { device: "b", key: "t", ts: NOON - 2000, value: 22 },
  { device: "b", key: "t", ts: NOON - DAY - 1, value: 99 },
];

test("filters replace those of the view by their name; no values: all pass", async (t) => {
  const filters = { Where: { by: "device", values: ["a"] }, Kind: { by: "profile" } };
  const { platform, ask } = await begin(t, { filters });
  store(platform, POINTS);
  const devices = async (given?: object): Promise<string[]> =>
    (await ask({ viewConfigId: VIEW, filters: given })).json.dataTable.map(
      ({ Device }: { Device: string }) => Device,
    );
  t.deepEqual(await devices(), ["a"]);
  t.deepEqual(await devices({}), ["a"]);
  t.deepEqual(await devices({ Where: ["b"] }), ["b"]);
  t.deepEqual(await devices({ Where: [] }), ["a", "b"]);
  t.deepEqual(await devices({ Where: [], Kind: ["none"] }), []);
  t.deepEqual(await devices({ Where: [], Kind: ["default"] }), ["a", "b"]);
});

test("takes the JWT from the query, the jwt header or X-Authorization; otherwise 403", async (t) => {
  const { ask, jwt } = await begin(t);
  const body = { viewConfigId: VIEW };
  for (const path of [API, "/apiTrendz/publicApi/buildReport"]) {
    t.is((await ask(body, { jwt }, path)).status, 200);
    t.is((await ask(body, { "x-authorization": `Bearer ${jwt}` }, path)).status, 200);
    t.is((await ask(body, {}, `${path}?jwt=${jwt}`)).status, 200);
    t.is((await ask(body, {}, path)).status, 403);
    t.is((await ask(body, { jwt: `${jwt}x` }, path)).status, 403);
    t.is((await ask(body, { jwt: "" }, `${path}?jwt=`)).status, 403);
  }
});

test("an unknown view is 404, a request of the wrong shape 400", async (t) => {
  const { ask } = await begin(t);
  t.is((await ask({ viewConfigId: VIEW.replace("3", "4") })).status, 404);
  for (const body of [
    "no JSON",
    { viewConfigId: "x" },
    { viewConfigId: VIEW, rangeStartTs: 2, rangeEndTs: 1 },
    { viewConfigId: VIEW, filters: { none: [] } },
  ])
    t.is((await ask(body)).status, 400, JSON.stringify(body));
});

test("a customer's user sees the customer's devices alone", async (t) => {
  const { platform, ask } = await begin(t);
  store(platform, POINTS);
  const customer = await operatorOf(platform, "customer");
  platform.core.devices.byName("b")!.customerId = (await customer.user()).customerId!.id;
  const { json } = await ask({ viewConfigId: VIEW }, { jwt: (await jwtOf(platform, "customer")) ?? "" });
  t.deepEqual(
    json.dataTable.map(({ Device }: { Device: string }) => Device),
    ["b"],
  );
});

test("rejects views that make no sense, with the reason", (t) => {
  const view = { name: "v", columns: COLUMNS };
  for (const [changes, message] of [
    [{ id: "x" }, /id must be a UUID/],
    [{ columns: [] }, /columns must be a list of 1 to 100/],
    [{ columns: [{ label: "x", column: "device" }] }, /must be a measure \(avg, min, max, sum, count\)/],
    [{ columns: [...COLUMNS, COLUMNS[0]] }, /two columns have the same label/],
    [
      { columns: [{ label: "x", column: "date", unit: "year" }] },
      /the unit of "x" must be one of raw, minute, hour, day/,
    ],
    [{ columns: [{ label: "x", column: "avg" }] }, /"x" lacks its key/],
    [{ range: { startTs: 2, endTs: 1 } }, /range must be/],
    [{ filters: { f: { by: "moon" } } }, /the filter "f" must be by device, profile, label/],
  ] as const)
    t.throws(() => readViews([{ ...view, ...changes }]), { message });
  const twice = [VIEW, VIEW.toUpperCase()].map((id) => ({ ...view, id }));
  t.throws(() => readViews(twice), { message: /two views have the same id/ });
});
