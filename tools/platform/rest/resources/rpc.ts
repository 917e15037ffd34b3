import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Device } from "../../core/devices.js";
import { type Json, JsonNumber, type JsonObject, jsonText } from "../../core/json/json.js";
import { parseJson } from "../../core/json/json-reader.js";
import type { RpcRequest, RpcResult } from "../../core/rpc/rpc.js";
import type { PersistentRpc } from "../../core/rpc/rpc-records.js";
import { javaDouble } from "../../core/values.js";
import { deviceOf, type RestContext, TENANT } from "../context.js";
import { found, RestError } from "../error.js";
import { pageOf, parameter, spelledBody, uuid } from "../input.js";
import { entityId } from "../views.js";

const TIMEOUT = { default: 10_000, least: 5_000 };
/** What the caller gets when nobody answers. */
const UNANSWERED = 504;

/** `{"method":"setLed","params":{"on":true},"timeout":10000,"persistent":false}` */
export function rpcRoutes(app: FastifyInstance, context: RestContext): void {
  for (const way of ["oneway", "twoway"] as const)
    app.post(`/api/rpc/${way}/:deviceId`, async (request, reply) => {
      const device = deviceOf(context, request);
      const body = spelledBody(request);
      const rpc = read(body, way === "oneway", context.core.clock.now());
      if (body.get("persistent") === true) return persist(context, device, rpc);
      return answer(reply, await send(device, rpc));
    });
  recordRoutes(app, context);
}

function read(body: JsonObject, oneWay: boolean, now: number): RpcRequest {
  const method = body.get("method");
  if (typeof method !== "string") throw new RestError(400, "Invalid request body: 'method' is needed");
  const expiresAt = numberOf(body, "expirationTime");
  const timeout = numberOf(body, "timeout") ?? TIMEOUT.default;
  return {
    method,
    params: throughJackson(body.get("params") ?? null),
    oneWay,
    expiresAt: expiresAt ?? now + Math.max(timeout, TIMEOUT.least),
  };
}

/**
 * JSON as it passes through Java's number types: `{"a":1.50,"b":1e3}` -> `{"a":1.5,"b":1000.0}`. A
 * number with neither point nor exponent stays whole; all others become doubles.
 */
const throughJackson = (json: Json): string => jsonText(json, { number: javaNumber });

function javaNumber(text: string): string {
  if (/^-?\d+$/.test(text)) return String(BigInt(text));
  const double = Number(text);
  // JSON has no word for infinity.
  return Number.isFinite(double) ? javaDouble(double) : `"${double}"`;
}

function numberOf(body: JsonObject, name: string): number | undefined {
  const value = body.get(name);
  if (value === undefined || value === null) return undefined;
  const number = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new RestError(400, `'${name}' is not a number`);
  return number;
}

function send(device: Device, rpc: RpcRequest): Promise<RpcResult> {
  return new Promise((resolve, reject) => {
    if (device.rpc.send({ ...rpc, result: resolve }) === undefined) reject(tooMany());
  });
}

function tooMany(): RestError {
  return new RestError(429, "Too many RPCs wait for the device");
}

function answer(reply: FastifyReply, result: RpcResult): FastifyReply {
  if (result.kind === "sent") return reply.send();
  if (result.kind !== "answer") return reply.code(UNANSWERED).send();
  const text = result.text.trim() === "" ? "null" : result.text;
  if (!isJson(text)) return reply.code(406).send();
  return reply.type("application/json").send(throughJackson(parseJson(text)));
}

/** What is nested too deeply does not count. */
function isJson(text: string): boolean {
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

function persist({ core }: RestContext, device: Device, rpc: RpcRequest): object {
  const record = core.rpcRecords.send(device, rpc);
  if (!record) throw tooMany();
  return { rpcId: record.id };
}

function recordRoutes(app: FastifyInstance, context: RestContext): void {
  const { rpcRecords, devices } = context.core;
  const recordOf = ({ params }: FastifyRequest): PersistentRpc =>
    found(rpcRecords.get(uuid((params as { rpcId: string }).rpcId, "rpcId")));

  app.get("/api/rpc/persistent/:rpcId", TENANT, async (request) => recordView(context, recordOf(request)));

  app.delete("/api/rpc/persistent/:rpcId", TENANT, async (request, reply) => {
    const rpc = recordOf(request);
    rpcRecords.delete(rpc, devices.get(rpc.deviceId));
    return reply.send();
  });

  app.get("/api/rpc/persistent/device/:deviceId", async (request) => {
    const status = parameter(request, "rpcStatus");
    const all = rpcRecords.list(deviceOf(context, request).id);
    const some = status === undefined ? all : all.filter((rpc) => rpc.status === status);
    return pageOf(
      request,
      some,
      (rpc) => rpc.method,
      (rpc) => recordView(context, rpc),
    );
  });
}

function recordView({ users }: RestContext, rpc: PersistentRpc): object {
  const { method, params, oneWay, expirationTime, response } = rpc;
  const tenantId = entityId("TENANT", users.tenantId);
  const deviceId = entityId("DEVICE", rpc.deviceId);
  return {
    id: entityId("RPC", rpc.id),
    createdTime: rpc.createdTime,
    tenantId,
    deviceId,
    expirationTime,
    request: {
      id: rpc.id,
      tenantId: users.tenantId,
      deviceId,
      oneway: oneWay,
      expirationTime,
      body: { method, params },
      persisted: true,
      retries: null,
      additionalInfo: null,
    },
    response: response === undefined ? null : isJson(response) ? JSON.parse(response) : { error: response },
    status: rpc.status,
    additionalInfo: null,
  };
}
