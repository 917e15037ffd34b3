import { isDeepStrictEqual } from "node:util";
import { until } from "../tour.js";
import { ask, check, deviceId, since, step, untilClient } from "./context.js";

/** The shared attribute makes the device this much faster. */
const FASTER = 5;
/** Points to watch at the new interval. */
const WATCHED = 5;

export const written = step("client attributes written", async (tour, signal) => {
  const id = await deviceId(tour);
  const values = await until(signal, async () => {
    const found = await tour.operator.attributes.get(id, "CLIENT_SCOPE");
    return typeof found.serial === "string" && found.app === "1.0.0" ? found : undefined;
  });
  return `${Object.keys(values).length} keys, serial ${String(values.serial)}`;
});

export const readByKey = step("client and shared attributes read by key", async (tour) => {
  const id = await deviceId(tour);
  await tour.operator.attributes.set(id, "SHARED_SCOPE", { room: "lab", floor: 3, unasked: true });
  const { serial } = await tour.operator.attributes.get(id, "CLIENT_SCOPE", ["serial"]);
  const from = Date.now();
  const keys = { clientKeys: ["serial", "absent"], sharedKeys: ["room", "floor"] };
  const answer = await ask(tour, "readAttributes", keys);
  const wanted = { client: { serial }, shared: { room: "lab", floor: 3 } };
  check(isDeepStrictEqual(answer, wanted), "the device read other values");
  return `1 client, 2 shared, ${since(from)}`;
});

export const changed = step("shared attribute change applied", async (tour, signal) => {
  const id = await deviceId(tour);
  const intervalMs = tour.intervalMs / FASTER;
  const from = Date.now();
  await tour.operator.attributes.set(id, "SHARED_SCOPE", { interval: intervalMs / 1000 });
  await untilClient(tour, signal, "intervalMs", intervalMs);
  const appliedAt = Date.now();
  // The first points may lie apart on a busy machine: what counts is that it comes to that pace.
  const spacing = await until(signal, async () => {
    const range = {
      keys: ["temperature"],
      startTs: appliedAt,
      endTs: Date.now() + 60_000,
      orderBy: "ASC",
    } as const;
    const found = (await tour.operator.timeSeries.range(id, range)).temperature ?? [];
    const least = closest(found.map(({ ts }) => ts));
    return least !== undefined && least < tour.intervalMs / 2 ? least : undefined;
  });
  return `${appliedAt - from} ms, then a point every ${Math.round(spacing)} ms`;
});

/** Mean distance of the closest run of points; undefined with too few points or equal times. */
function closest(stamps: readonly number[]): number | undefined {
  const spans = stamps
    .slice(WATCHED - 1)
    .map((last, first) => (last - (stamps[first] as number)) / (WATCHED - 1));
  const least = Math.min(...spans);
  return spans.length > 0 && least > 0 ? least : undefined;
}

export const deleted = step("shared attribute deletion applied", async (tour, signal) => {
  const id = await deviceId(tour);
  const from = Date.now();
  await tour.operator.attributes.delete(id, "SHARED_SCOPE", ["interval"]);
  await untilClient(tour, signal, "intervalMs", tour.intervalMs);
  const took = since(from);
  const status = await ask(tour, "getStatus", null);
  check(status.intervalMs === tour.intervalMs, "the interval is not the device's own again");
  return `${took}, interval ${tour.intervalMs} ms again`;
});
