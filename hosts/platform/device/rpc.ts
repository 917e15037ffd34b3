import { answerClientRpc } from "../core/client-rpc.js";
import { type Json, JsonNumber } from "../core/json.js";
import { type Exchange, MemberError } from "./exchange.js";
import { pollTimeout, wrongNumber } from "./poll.js";
import { parseInteger } from "./query.js";

/** `{"id":0,"method":"setLed","params":{"on":true}}` */
export function pollRpc(exchange: Exchange): void {
  if (!exchange.admit(0, true)) return;
  exchange.wait(pollTimeout(exchange));
  exchange.device.rpc.subscribe({
    deliver: ({ id, method, params }) => {
      const known = exchange.isRegistered;
      const json = `{"id":${id},"method":${JSON.stringify(method)},"params":${params}}`;
      if (known) exchange.answerJson(200, json);
      return known;
    },
  });
}

export function bindAnswer(exchange: Exchange): string | undefined {
  if (parseInteger(exchange.id, 32) !== undefined) return undefined;
  return wrongNumber("requestId", "java.lang.Integer", exchange.id);
}

/** Any text is an answer; whether one was awaited is not told. */
export function answerRpc(exchange: Exchange): void {
  if (!exchange.admit()) return;
  exchange.device.rpc.answer(parseInteger(exchange.id, 32) as number, exchange.text());
  exchange.answer(200);
}

/** `{"method":"getCurrentTime","params":{}}` -> what the rule chain answers, or nothing ever. */
export function callRpc(exchange: Exchange): void {
  const json = exchange.json();
  const params = json instanceof Map ? json.get("params") : undefined;
  if (!(json instanceof Map) || params === undefined) throw new MemberError("no params");
  const method = primitive(json.get("method"));
  if (!exchange.admit(0, true)) return;
  const answer = answerClientRpc(method, params, exchange.now());
  exchange.isPlain = true;
  if (answer === undefined) exchange.wait();
  else exchange.answerText(200, answer);
}

function primitive(json: Json | undefined): string {
  if (typeof json === "string") return json;
  if (typeof json === "boolean") return String(json);
  if (json instanceof JsonNumber) return json.text;
  throw new MemberError("no method");
}
