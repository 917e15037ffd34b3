import type { LoggedRequest } from "../../operator/shapes.js";
import { accepted } from "../requests.js";
import { until } from "../tour.js";
import { ask, check, deviceId, requestsSince, since, step, type Tour, type TourStep } from "./context.js";

/** The shapes of POST telemetry by the beginning of their bodies. */
const SHAPES = {
  "device object": /^\{"ts":\d{13},"values":\{[^}]*"temperature":/,
  "device array": /^\[\{"ts":\d{13},"values":\{[^}]*"temperature":/,
  "platform object": /^\{"temperature":/,
} as const;

const AGAIN_MS = 3000;
const ONE = { method: "burst", params: { points: 1 } };
const FIVE = { method: "burst", params: { points: 5 } };

export const platformObject = shown("telemetry as an object, platform time", "platform object", ONE);
export const deviceObject = shown("telemetry as {ts, values}, device time", "device object", ONE);
export const deviceArray = shown("telemetry as an array of {ts, values}, device time", "device array", FIVE);

function shown(
  title: string,
  shape: keyof typeof SHAPES,
  call: { method: string; params: unknown },
): TourStep {
  return step(title, async (tour, signal) => {
    const from = Date.now();
    let asked = from;
    await ask(tour, call.method, call.params);
    // On a busy machine the next sample may share the request and change its shape.
    const askAgain = async (): Promise<void> => {
      if (Date.now() - asked < AGAIN_MS) return;
      asked = Date.now();
      await ask(tour, call.method, call.params);
    };
    return seen(tour, signal, shape, from, askAgain);
  });
}

/** The shape in the request log, and its first point in the time series. */
async function seen(
  tour: Tour,
  signal: AbortSignal,
  shape: keyof typeof SHAPES,
  from: number,
  askAgain: () => Promise<void>,
): Promise<string> {
  const request = await until(signal, async () => {
    const found = (await requestsSince(tour, from)).find(
      (entry) => accepted(entry, "POST", /^\*\*\*\/telemetry$/) && SHAPES[shape].test(entry.body),
    );
    if (!found) await askAgain();
    return found;
  });
  const took = since(from);
  const stored = await until(signal, () => find(tour, request, shape.startsWith("device")), 50);
  return `${stored}, ${took}`;
}

async function find(tour: Tour, request: LoggedRequest, own: boolean): Promise<string | undefined> {
  const { ts, temperature } = firstPoint(request.body ?? "");
  const id = await deviceId(tour);
  if (own) {
    check(ts !== undefined, "the point has no time stamp");
    const range = { keys: ["temperature"], startTs: ts, endTs: ts + 1 };
    const [reading] = (await tour.operator.timeSeries.range(id, range)).temperature ?? [];
    return reading?.value === temperature ? `${temperature} °C at its own ts` : undefined;
  }
  const range = {
    keys: ["temperature"],
    startTs: request.ts,
    endTs: Date.now() + 1_000,
    orderBy: "ASC",
  } as const;
  const [reading] = (await tour.operator.timeSeries.range(id, range)).temperature ?? [];
  return reading ? `${reading.value} °C, ${reading.ts - request.ts} ms after the request` : undefined;
}

function firstPoint(body: string): { ts: number | undefined; temperature: number } {
  const ts = /"ts":(\d{13})/.exec(body)?.[1];
  const temperature = /"temperature":(-?[\d.]+)/.exec(body)?.[1];
  return { ts: ts === undefined ? undefined : Number(ts), temperature: Number(temperature) };
}
