import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Attribute, SCOPES, type Scope } from "../../core/attributes.js";
import type { Device } from "../../core/devices.js";
import { jsonText } from "../../core/json/json.js";
import { isStorableKey, NumberTooLongError, typed, type Value, valueJson } from "../../core/values.js";
import { deviceOf, type RestContext } from "../context.js";
import { RestError } from "../error.js";
import { keysParameter, spelledBody } from "../input.js";
import { activityOf } from "./activity.js";

const BASE = "/api/plugins/telemetry";

/** Attributes of the three scopes. */
export function attributeRoutes(app: FastifyInstance, context: RestContext): void {
  const { core } = context;
  const save = async (request: FastifyRequest): Promise<string> => {
    const device = deviceOf(context, request);
    const scope = scopeOf(request);
    if (scope === "CLIENT_SCOPE") throw new RestError(400, "Invalid attributes scope: CLIENT_SCOPE");
    core.saveAttributes(device, scope, valuesOf(request));
    return "";
  };
  app.post(`${BASE}/DEVICE/:deviceId/attributes/:scope`, save);

  const remove = async (request: FastifyRequest): Promise<string> => {
    const device = deviceOf(context, request);
    const keys = keysParameter(request);
    if (!keys) throw new RestError(400, "Empty keys: []");
    core.deleteAttributes(device, scopeOf(request), keys);
    return "";
  };
  app.delete(`${BASE}/DEVICE/:deviceId/:scope`, remove);

  app.get(`${BASE}/DEVICE/:deviceId/values/attributes/:scope`, async (request, reply) => {
    const list = attributes(context, deviceOf(context, request), scopeOf(request), keysParameter(request));
    return reply.type("application/json").send(`[${list.map(attributeJson).join(",")}]`);
  });
}

function scopeOf({ params }: FastifyRequest): Scope {
  const name = (params as { scope: string }).scope;
  const scope = SCOPES.find((known) => known === name);
  if (!scope) throw new RestError(400, "Invalid attributes scope");
  return scope;
}

function attributes(
  { core }: RestContext,
  device: Device,
  scope: Scope,
  keys: readonly string[] | undefined,
): [string, Attribute][] {
  const found = device.attributes.list(scope, keys);
  if (scope !== "SERVER_SCOPE") return found;
  const activity = activityOf(device, core.clock.now());
  return [...found, ...(keys ? activity.filter(([key]) => keys.includes(key)) : activity)];
}

/** Values set through REST get their types by the rules for devices, but only once. */
function valuesOf(request: FastifyRequest): [string, Value][] {
  const values: [string, Value][] = [];
  for (const [key, member] of spelledBody(request)) {
    if (!isStorableKey(key)) throw new RestError(400, "Validation error: key is malformed");
    try {
      const value = typed(member);
      if (value === undefined) throw new RestError(500, "Can't parse value: null");
      values.push([key, value]);
    } catch (error) {
      if (!(error instanceof NumberTooLongError)) throw error;
      throw new RestError(400, `Can't parse value: ${jsonText(member).slice(0, 100)}`);
    }
  }
  if (values.length === 0) throw new RestError(400, "No attributes data found in request body!");
  return values;
}

function attributeJson([key, { value, ts }]: [string, Attribute]): string {
  return `{"lastUpdateTs":${ts},"key":${JSON.stringify(key)},"value":${valueJson(value)}}`;
}
