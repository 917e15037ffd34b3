import { type Json, type JsonObject, quoted } from "../core/json/json.js";
import { asText, MemberError } from "../core/json/json-access.js";
import { answerClientRpc } from "../core/rpc/client-rpc.js";
import type { Exchange } from "./exchange.js";
import { pollTimeout, wrongNumber } from "./numbers.js";

/** `{"id":0,"method":"setLed","params":{"on":true}}` */
export function pollRpc(exchange: Exchange): void {
  exchange.wait(pollTimeout(exchange));
  exchange.device.rpc.subscribe({
    deliver: ({ id, method, params }) => {
      const known = exchange.isRegistered;
      const json = `{"id":${id},"method":${quoted(method)},"params":${params}}`;
      if (known) exchange.answerJson(200, json);
      return known;
    },
  });
}

export function bindAnswer(exchange: Exchange): string | undefined {
  return wrongNumber("requestId", "java.lang.Integer", exchange.id);
}

/** Any text is an answer; whether one was awaited is not said. */
export function answerRpc(exchange: Exchange): void {
  exchange.device.rpc.answer(Number(exchange.id), exchange.text);
  exchange.answer(200);
}

/** `{"method":"getCurrentTime","params":{}}`: answered by a rule chain, or never. */
export function callRpc(exchange: Exchange): void {
  const json = exchange.json();
  if (!(json instanceof Map)) throw new MemberError("no object");
  const method = asText(member(json, "method"));
  // Required, but no rule chain here uses it.
  member(json, "params");
  const answer = exchange.rules.hasRuleChain ? answerClientRpc(method, exchange.now()) : undefined;
  exchange.isPlain = true;
  if (answer === undefined) exchange.wait();
  else exchange.answerText(200, answer);
}

function member(json: JsonObject, name: string): Json {
  const value = json.get(name);
  if (value === undefined) throw new MemberError(`no ${name}`);
  return value;
}
