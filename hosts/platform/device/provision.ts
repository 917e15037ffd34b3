import { CREDENTIALS, type Device } from "../core/devices.js";
import { type Json, JsonNumber, type JsonObject, JsonSyntaxError } from "../core/json.js";
import type { ProvisionRequest } from "../core/provisioning.js";
import type { Exchange } from "./exchange.js";

const MESSAGES = {
  NOT_FOUND: "Provision data was not found!",
  FAILURE: "Failed to provision device!",
};
/** How long the device's request waits for a core that doesn't answer. */
const SILENCE_MS = 10_000;

/** `{"deviceName":"…","provisionDeviceKey":"…","provisionDeviceSecret":"…"}`; every outcome but a bad request is a 200. */
export function provision(exchange: Exchange): void {
  const request = read(exchange);
  if (!request) {
    // The real server's message holds the request, secret and all: no client may log it.
    const echo = exchange.text().slice(0, 1_000);
    exchange.answerError(exchange.rules.badProvision, `Failed to parse provision request: ${echo}`);
    return;
  }
  const result = exchange.core.provision(request);
  if (result.status === "silence") exchange.clock.timer(SILENCE_MS, () => exchange.answer(500));
  else if (result.status === "SUCCESS") exchange.answerText(200, success(result.device));
  else exchange.answerText(200, JSON.stringify({ errorMsg: MESSAGES[result.status], status: result.status }));
}

function success({ credentials: { type, credentialsId, value } }: Device): string {
  const members: Record<string, unknown> = {};
  if (type === "MQTT_BASIC") members.credentialsValue = JSON.parse(value ?? "{}") as unknown;
  else if (type !== "LWM2M_CREDENTIALS") members.credentialsValue = value ?? credentialsId;
  return JSON.stringify({ ...members, credentialsType: type, status: "SUCCESS" });
}

function read(exchange: Exchange): ProvisionRequest | undefined {
  let json: Json;
  try {
    json = exchange.json();
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
  if (!(json instanceof Map)) return undefined;
  for (const member of json.values()) if (text(member) === undefined) return undefined;
  const key = text(json.get("provisionDeviceKey"));
  const secret = text(json.get("provisionDeviceSecret"));
  const type = CREDENTIALS.find((name) => name === (text(json?.get("credentialsType")) ?? "ACCESS_TOKEN"));
  if (key === undefined || secret === undefined || !type) return undefined;
  return { key, secret, credentialsType: type, ...proposals(json), gateway: json.get("gateway") === true };
}

function proposals(
  json: JsonObject,
): Pick<ProvisionRequest, "deviceName" | "token" | "hash" | "clientId" | "username" | "password"> {
  return {
    deviceName: text(json.get("deviceName")),
    token: text(json.get("token")),
    hash: text(json.get("hash")),
    clientId: text(json.get("clientId")),
    username: text(json.get("username")),
    password: text(json.get("password")),
  };
}

function text(json: Json | undefined): string | undefined {
  if (json instanceof JsonNumber) return json.text;
  return typeof json === "string" || typeof json === "boolean" ? String(json) : undefined;
}
