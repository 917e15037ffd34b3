// The report API of the local platform, over HTTP; the numbers are computed here a second time, from the points alone.
import { request as httpRequest } from "node:http";
import test from "ava";
import fc from "fast-check";
import { Operator } from "../../../tools/operator/operator.js";
import type { Clock } from "../../../tools/platform/core/common/clock.js";
import { readViews } from "../../../tools/platform/core/reports/table-views.js";
import { WorkerPool } from "../../../tools/platform/rest/worker-pool.js";
import { type Platform, type PlatformServerOptions, startPlatform } from "../../../tools/platform/server.js";

const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const DAY = 86_400_000;
const NOON = Date.UTC(2026, 0, 10, 12);
const COLUMNS = [
  { label: "Device", column: "device" },
  { label: "When", column: "date", unit: "hour" },
  ...["avg", "min", "max", "sum", "count"].map((column) => ({ label: column, column, key: "t" })),
  { label: "other", column: "sum", key: "h" },
];

interface Asked {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever came
  json: any;
}

interface Place {
  platform: Platform;
  jwt: string;
  ask(body: unknown, headers?: Record<string, string>, path?: string): Promise<Asked>;
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
  const platform = await startPlatform({ port: 0, views, ...options });
  t.teardown(() => platform.close());
  const login = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"username":"tenant@thingsboard.org","password":"tenant"}',
  };
  const { token } = (await (await fetch(`${platform.url}/api/auth/login`, login)).json()) as {
    token: string;
  };
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

for (const [unit, ms] of Object.entries(UNITS)) {
  test(`reports by ${unit} agree with a second computation`, async (t) => {
    const columns = COLUMNS.map((column) => (column.column === "date" ? { ...column, unit } : column));
    await fc.assert(
      fc.asyncProperty(distinct, async (points) => {
        const ends: (() => unknown)[] = [];
        const { platform, ask } = await begin({ teardown: (end) => ends.push(end) }, { columns });
        try {
          store(platform, points);
          const { json } = await ask({ viewConfigId: VIEW });
          t.deepEqual(
            json.columnLabels,
            COLUMNS.map(({ label }) => label),
          );
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
}

const POINTS: Points = [
  { device: "a", key: "t", ts: NOON - 1000, value: 20 },
  { device: "b", key: "t", ts: NOON - 2000, value: 22 },
  { device: "b", key: "t", ts: NOON - DAY - 1, value: 99 },
];

test("both ends of a range count", async (t) => {
  const { platform, ask } = await begin(t, { columns: [{ label: "s", column: "sum", key: "t" }] });
  const at = (ts: number, value: number) => ({ device: "a", key: "t", ts, value });
  store(platform, [at(NOON - DAY - 1, 1), at(NOON - DAY, 10), at(NOON, 100), at(NOON + 1, 1000)]);
  t.deepEqual((await ask({ viewConfigId: VIEW })).json.dataTable, [{ s: 110 }]);
});

test("a cancelled waiting report frees its place; a finished one starts the next in line", async (t) => {
  const pool = new WorkerPool({ threadPoolSize: 1, queueCapacity: 2 });
  const order: string[] = [];
  const enter = (name: string) => {
    const place = pool.enter();
    void place?.running.then(() => order.push(name));
    return place;
  };
  const [a, b, c] = [enter("a"), enter("b"), enter("c")];
  t.is(enter("full"), undefined);
  b?.leave();
  b?.leave();
  const d = enter("d");
  t.is(enter("full"), undefined);
  a?.leave();
  await c?.running;
  t.deepEqual(order, ["a", "c"]);
  c?.leave();
  await d?.running;
  d?.leave();
  t.truthy(enter("e"));
  await null;
  t.deepEqual(order, ["a", "c", "d", "e"]);
});

test("without a device and a date all is one row; text counts and is no number", async (t) => {
  const columns = [
    { label: "n", column: "count", key: "t" },
    { label: "s", column: "sum", key: "t" },
    { label: "m", column: "max", key: "x" },
  ];
  const { platform, ask } = await begin(t, { columns });
  store(platform, POINTS);
  platform.core.receiveTelemetry(platform.core.devices.byName("a")!, NOON - 3000, [["t", "warm"]]);
  t.deepEqual((await ask({ viewConfigId: VIEW })).json, {
    columnLabels: ["n", "s", "m"],
    dataTable: [{ n: 3, s: 42 }],
  });
});

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

test("a view without a range shows the time up to now", async (t) => {
  const { platform, ask } = await begin(t, { range: { lastMs: 60_000 } });
  store(platform, [
    { device: "a", key: "t", ts: Date.now() - 1000, value: 1 },
    { device: "a", key: "t", ts: Date.now() - 90_000, value: 1 },
  ]);
  const { json } = await ask({ viewConfigId: VIEW });
  t.is(
    json.dataTable.reduce((sum: number, row: { count: number }) => sum + row.count, 0),
    1,
  );
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

test("a JWT whose time is over is 403", async (t) => {
  let now = NOON;
  const { ask } = await begin(t, {}, { clock: { now: () => now, timer: () => () => {} } });
  t.is((await ask({ viewConfigId: VIEW })).status, 200);
  now += 9_000_000;
  t.is((await ask({ viewConfigId: VIEW })).status, 403);
});

test("what is not JSON by its type is 415, also without a type", async (t) => {
  const { ask, jwt, platform } = await begin(t);
  t.is((await ask("a=1", { jwt, "content-type": "application/x-www-form-urlencoded" })).status, 415);
  const status = await new Promise((resolve) => {
    const sent = httpRequest(platform.url + API, { method: "POST", headers: { jwt } }, (answer) =>
      resolve(answer.resume().statusCode),
    );
    sent.end("{}");
  });
  t.is(status, 415);
});

test("an unknown view is 404, a request of the wrong shape 400", async (t) => {
  const { ask } = await begin(t);
  t.is((await ask({ viewConfigId: VIEW.replace("3", "4") })).status, 404);
  for (const body of [
    "no JSON",
    "[]",
    {},
    { viewConfigId: "x" },
    { viewConfigId: VIEW, rangeStartTs: "1" },
    { viewConfigId: VIEW, rangeStartTs: 2, rangeEndTs: 1 },
    { viewConfigId: VIEW, filters: [] },
    { viewConfigId: VIEW, filters: { none: [] } },
  ])
    t.is((await ask(body)).status, 400, JSON.stringify(body));
});

test("a customer's user sees the customer's devices alone", async (t) => {
  const { platform, ask } = await begin(t);
  store(platform, POINTS);
  const customer = new Operator({ url: platform.url });
  await customer.login("customer@thingsboard.org", "customer");
  const { customerId } = await customer.user();
  platform.core.devices.byName("b")!.customerId = customerId!.id;
  const login = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"username":"customer@thingsboard.org","password":"customer"}',
  };
  const { token } = (await (await fetch(`${platform.url}/api/auth/login`, login)).json()) as {
    token: string;
  };
  const { json } = await ask({ viewConfigId: VIEW }, { jwt: token });
  t.deepEqual(
    json.dataTable.map(({ Device }: { Device: string }) => Device),
    ["b"],
  );
});

/** Reports take until the test says so. */
function heldClock(): { clock: Clock; release(): void; readonly held: number } {
  let held: (() => void)[] = [];
  const release = (): void => {
    for (const due of held.splice(0)) due();
  };
  const timer: Clock["timer"] = (_ms, due) => {
    held.push(due);
    return () => {
      held = held.filter((other) => other !== due);
    };
  };
  return {
    clock: { now: () => Date.now(), timer },
    release,
    get held() {
      return held.length;
    },
  };
}

/** Lets the event loop turn until it is so. */
async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise((resolve) => setImmediate(resolve));
}

test("runs one report per thread, queues up to the limit, and answers others 429", async (t) => {
  const time = heldClock();
  const pool = { threadPoolSize: 2, queueCapacity: 3 };
  const { ask } = await begin(t, {}, { clock: time.clock, reportPool: pool, reportMs: 1 });
  const statuses: number[] = [];
  const all = Array.from({ length: 9 }, async () => {
    const { status } = await ask({ viewConfigId: VIEW });
    statuses.push(status);
  });
  await until(() => statuses.length === 4);
  t.deepEqual(statuses, [429, 429, 429, 429]);
  t.is(time.held, 2);
  while (statuses.length < 9) {
    t.true(time.held <= 2);
    time.release();
    await until(() => time.held > 0 || statuses.length === 9);
  }
  await Promise.all(all);
  t.deepEqual(statuses.slice(4), [200, 200, 200, 200, 200]);
});

test("who goes away gives the place back, running or waiting", async (t) => {
  const time = heldClock();
  const pool = { threadPoolSize: 1, queueCapacity: 1 };
  const { ask, platform, jwt } = await begin(t, {}, { clock: time.clock, reportPool: pool, reportMs: 1 });
  const body = JSON.stringify({ viewConfigId: VIEW });
  const headers = { jwt, "content-type": "application/json" };
  let refused = 0;
  const gone = Array.from({ length: 5 }, () => {
    const sent = httpRequest(platform.url + API, { method: "POST", headers }, (answer) => {
      if (answer.resume().statusCode === 429) refused++;
    });
    sent.on("error", () => {});
    sent.end(body);
    return sent;
  });
  // The other two have a place.
  await until(() => refused === 3);
  for (const sent of gone) sent.destroy();
  let status = 429;
  while (status === 429) {
    let over = false;
    void ask({ viewConfigId: VIEW }).then((answer) => {
      status = answer.status;
      over = true;
    });
    await until(() => {
      time.release();
      return over;
    });
  }
  t.is(status, 200);
});

test("views that make no sense are refused, with the reason", (t) => {
  const view = { name: "v", columns: COLUMNS };
  const wrong: [unknown, RegExp][] = [
    [{}, /a list of 1 to 1000/],
    [[1], /view 1 is no object/],
    [[{ ...view, id: "x" }], /its id is no UUID/],
    [[{ ...view, name: "" }], /no name/],
    [[{ ...view, columns: [] }], /1 to 100 columns/],
    [[{ ...view, columns: [{ label: "x", column: "device" }] }], /no column is avg, min, max, sum, count/],
    [[{ ...view, columns: [...COLUMNS, COLUMNS[0]] }], /two columns have one label/],
    [[{ ...view, columns: [...COLUMNS, { label: "x", column: "device" }] }], /two columns "device"/],
    [
      [{ ...view, columns: [{ label: "x", column: "date", unit: "year" }] }],
      /the unit of "x" is raw, minute, hour, day/,
    ],
    [[{ ...view, columns: [{ label: "x", column: "median", key: "t" }] }], /"x" is device, date, avg/],
    [[{ ...view, columns: [{ label: "x", column: "avg" }] }], /"x" has no key/],
    [[{ ...view, range: { startTs: 2, endTs: 1 } }], /its range is/],
    [[{ ...view, filters: { f: { by: "moon" } } }], /the filter "f" is by device, profile, label/],
    [
      [
        { ...view, id: VIEW },
        { ...view, id: VIEW.toUpperCase() },
      ],
      /two views have one id/,
    ],
  ];
  for (const [json, message] of wrong) t.throws(() => readViews(json), { message });
  t.is(readViews([view])[0]?.columns.length, COLUMNS.length);
});
