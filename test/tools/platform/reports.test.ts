import test from "ava";
import fc from "fast-check";
import { VIEW_ID as VIEW } from "../../../tools/platform/core/reports/reports.js";
import type { Platform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";
import { platformFor } from "../platform-for.js";
import { jwtOf } from "./rig.js";

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 0, 10, 12);
const RANGE = { rangeStartTs: NOON - 10 * MINUTE, rangeEndTs: NOON };
const API = "/apiAnalytics/publicApi/buildReport";

interface Place {
  platform: Platform;
  jwt: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever came
  ask(body: unknown, headers?: Record<string, string>, path?: string): Promise<{ status: number; json: any }>;
}

interface Point {
  readonly device: string;
  readonly ts: number;
  readonly value: number;
}

async function begin(t: { teardown(end: () => unknown): void }, points: readonly Point[]): Promise<Place> {
  const platform = await platformFor(t);
  const { core } = platform;
  for (const { device, ts, value } of points) {
    const fields = { name: device, profileId: core.profiles.default.id };
    const known = core.devices.byName(device) ?? core.createDevice(fields);
    core.receiveTelemetry(known, ts, [["temperature", value]]);
  }
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

/** Of points that share no device and time. */
function expected(points: readonly Point[], from: number, to: number): object[] {
  const mine = points.filter(({ ts }) => ts >= from && ts <= to);
  const rows = mine.map(({ device, ts }) => ({ Device: device, Minute: `${ts - (ts % MINUTE)}` }));
  const keys = [...new Set(rows.map((row) => JSON.stringify(row)))].map((key) => JSON.parse(key));
  keys.sort((a, b) => (a.Device === b.Device ? a.Minute - b.Minute : a.Device < b.Device ? -1 : 1));
  return keys.map((key) => {
    const values = mine
      .filter(({ device, ts }) => device === key.Device && `${ts - (ts % MINUTE)}` === key.Minute)
      .map(({ value }) => value);
    const Average = values.reduce((one, other) => one + other, 0) / values.length;
    const [Lowest, Highest] = [Math.min(...values), Math.max(...values)];
    return { ...key, Average, Lowest, Highest, Points: values.length };
  });
}

const POINTS = fc.uniqueArray(
  fc.record({
    device: fc.constantFrom("a", "b", "ü", "B"),
    ts: fc.integer({ min: NOON - 15 * MINUTE, max: NOON + 2 * MINUTE }),
    // Quarters: their sums are exact whatever the order.
    value: fc.integer({ min: -4000, max: 4000 }).map((n) => n / 4),
  }),
  { minLength: 30, maxLength: 60, selector: ({ device, ts }) => `${device} ${ts}` },
);

test("reports agree with a second computation, both ends of a range included", async (t) => {
  const edges = [-10 * MINUTE - 1, -10 * MINUTE, 0, 1].map((at) => ({
    device: "e",
    ts: NOON + at,
    value: 1,
  }));
  await fc.assert(
    fc.asyncProperty(POINTS, async (random) => {
      const ends: (() => unknown)[] = [];
      const points = [...random, ...edges];
      const { ask } = await begin({ teardown: (end) => ends.push(end) }, points);
      try {
        const { json } = await ask({ viewConfigId: VIEW, ...RANGE });
        t.deepEqual(json.dataTable, expected(points, RANGE.rangeStartTs, NOON));
      } finally {
        for (const end of ends) await end();
      }
    }),
    { numRuns: 8 },
  );
});

const TWO = ["a", "b"].map((device) => ({ device, ts: NOON - 1000, value: 20 }));
const devicesIn = (json: { dataTable: { Device: string }[] }): string[] =>
  json.dataTable.map(({ Device }) => Device);

test("the filter chooses devices by name; no values: all pass", async (t) => {
  const { ask } = await begin(t, TWO);
  const devices = async (filters?: object): Promise<string[]> =>
    devicesIn((await ask({ viewConfigId: VIEW, ...RANGE, filters })).json);
  t.deepEqual(await devices(), ["a", "b"]);
  t.deepEqual(await devices({ Device: [] }), ["a", "b"]);
  t.deepEqual(await devices({ Device: ["b"] }), ["b"]);
});

test("an unknown view is 404, a request of the wrong shape 400", async (t) => {
  const { ask } = await begin(t, []);
  t.is((await ask({ viewConfigId: VIEW.replace("6", "4") })).status, 404);
  for (const body of [
    "no JSON",
    { viewConfigId: "x" },
    { viewConfigId: VIEW, rangeStartTs: 2, rangeEndTs: 1 },
    { viewConfigId: VIEW, filters: { none: [] } },
    { viewConfigId: VIEW, filters: { Device: "a" } },
  ])
    t.is((await ask(body)).status, 400, JSON.stringify(body));
});

test("a customer's user sees the customer's devices alone", async (t) => {
  const { platform, ask } = await begin(t, TWO);
  const customer = await operatorOf(platform, "customer");
  platform.core.devices.byName("b")!.customerId = (await customer.user()).customerId!.id;
  const jwt = (await jwtOf(platform, "customer")) ?? "";
  t.deepEqual(devicesIn((await ask({ viewConfigId: VIEW, ...RANGE }, { jwt })).json), ["b"]);
});
