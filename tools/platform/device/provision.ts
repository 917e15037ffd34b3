import type { Device } from "../core/devices.js";
import { type JsonObject, jsonText } from "../core/json/json.js";
import { asBoolean, asText, MemberError } from "../core/json/json-access.js";
import { JsonSyntaxError } from "../core/json/json-reader.js";
import type { ProvisionRequest } from "../core/provisioning.js";
import { type Exchange, ShapeError } from "./exchange.js";
import { cantParse } from "./telemetry.js";

const MESSAGES = {
  NOT_FOUND: "Provision data was not found!",
  FAILURE: "Failed to provision device!",
};
const TOKEN = "ACCESS_TOKEN";
const ECHO = 1_000;

/** `{"provisionDeviceKey":"…","provisionDeviceSecret":"…"}`; 200 except for a bad body. */
export function provision(exchange: Exchange): void {
  let request: ProvisionRequest;
  try {
    request = read(exchange);
  } catch (error) {
    if (!isBad(error)) throw error;
    // The message may hold the request, secret and all: no client may log it.
    exchange.answerFault(500, error.message.slice(0, ECHO));
    return;
  }
  const result = exchange.core.provision(request);
  if (result.status === "SUCCESS") exchange.answerText(200, success(result.device));
  else exchange.answerText(200, JSON.stringify({ errorMsg: MESSAGES[result.status], status: result.status }));
}

function success({ credentials: { credentialsId } }: Device): string {
  return JSON.stringify({ credentialsValue: credentialsId, credentialsType: TOKEN, status: "SUCCESS" });
}

function isBad(error: unknown): error is Error {
  return error instanceof JsonSyntaxError || error instanceof ShapeError || error instanceof MemberError;
}

/** Reads members in the server's order: it names the first wrong one. */
function read(exchange: Exchange): ProvisionRequest {
  const json = exchange.json();
  if (!(json instanceof Map)) throw new ShapeError(cantParse(json));
  const optional = (name: string): string | undefined => {
    const member = json.get(name);
    return member === undefined ? undefined : asText(member);
  };
  const deviceName = optional("deviceName");
  checkType(optional("credentialsType") ?? TOKEN);
  const token = optional("token");
  const key = optional("provisionDeviceKey") ?? missing("provisionDeviceKey", json);
  const secret = optional("provisionDeviceSecret") ?? missing("provisionDeviceSecret", json);
  const gateway = json.get("gateway");
  return {
    deviceName,
    token,
    key,
    secret,
    gateway: gateway !== undefined && asBoolean(gateway),
  };
}

/** The local platform has no other credentials than the server's access tokens. */
function checkType(text: string): void {
  if (text === TOKEN) return;
  throw new MemberError(
    `No enum constant org.thingsboard.server.gen.transport.TransportProtos.CredentialsType.${text}`,
  );
}

function missing(name: string, json: JsonObject): never {
  throw new MemberError(`Failed to find the field ${name} in JSON body ${jsonText(json)}!`);
}
