import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Device } from "../../core/devices.js";
import type { Point } from "../../core/timeseries/timeseries.js";
import { valueJson, valueText } from "../../core/values.js";
import { deviceOf, type RestContext } from "../context.js";
import { RestError } from "../error.js";
import { keysParameter, numberParameter, parameter } from "../input.js";

const BASE = "/api/plugins/telemetry/DEVICE/:deviceId";
const LIMIT = 100;

/** `{"temperature":[{"ts":1,"value":"21.5"}]}`; typed values with `useStrictDataTypes`. */
export function timeseriesRoutes(app: FastifyInstance, context: RestContext): void {
  app.get(`${BASE}/keys/timeseries`, async (request) => deviceOf(context, request).series.keys());

  app.get(`${BASE}/values/timeseries`, async (request, reply) => {
    const device = deviceOf(context, request);
    const strict = parameter(request, "useStrictDataTypes")?.toLowerCase() === "true";
    const isRange = parameter(request, "startTs") !== undefined && parameter(request, "endTs") !== undefined;
    const members = isRange
      ? range(request, device, strict)
      : latest(request, device, strict, context.core.clock.now());
    return reply.type("application/json").send(`{${members.join(",")}}`);
  });
}

/** Keys without a point are left out. */
function range(request: FastifyRequest, device: Device, strict: boolean): string[] {
  const keys = keysParameter(request);
  if (!keys) throw new RestError(400, "Required request parameter 'keys' is not present");
  const query = {
    startTs: numberParameter(request, "startTs") ?? 0,
    endTs: numberParameter(request, "endTs") ?? 0,
    limit: numberParameter(request, "limit") ?? LIMIT,
    ascending: (parameter(request, "orderBy") ?? "DESC").toUpperCase() === "ASC",
  };
  if (query.limit < 1) throw new RestError(400, "Incorrect limit");
  const members: string[] = [];
  for (const key of new Set(keys)) {
    const points = device.series.range(key, query);
    if (points.length > 0) members.push(`${JSON.stringify(key)}:${pointsJson(points, strict)}`);
  }
  return members;
}

/** A key without a point gets `null` at the present time. */
function latest(request: FastifyRequest, device: Device, strict: boolean, now: number): string[] {
  const keys = new Set(keysParameter(request) ?? device.series.keys());
  return [...keys].map((key) => {
    const point = device.series.latest(key);
    const json = point ? pointsJson([point], strict) : `[{"ts":${now},"value":null}]`;
    return `${JSON.stringify(key)}:${json}`;
  });
}

function pointsJson(points: readonly Point[], strict: boolean): string {
  const values = points.map(({ ts, value }) => {
    const shown = strict ? valueJson(value) : JSON.stringify(valueText(value));
    return `{"ts":${ts},"value":${shown}}`;
  });
  return `[${values.join(",")}]`;
}
