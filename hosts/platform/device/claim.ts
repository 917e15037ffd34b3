import { type Json, JsonNumber } from "../core/json.js";
import { type Exchange, MemberError, ShapeError } from "./exchange.js";
import { cantParse } from "./telemetry.js";

/** `{"secretKey":"…","durationMs":60000}`, both optional, as is the body. 200 says nothing of what becomes of it. */
export function claim(exchange: Exchange): void {
  let secretKey = "";
  let durationMs = 0;
  if (exchange.request.body.length > 0) {
    const json = exchange.json();
    if (!(json instanceof Map)) throw new ShapeError(cantParse(json));
    if (json.has("secretKey")) secretKey = text(json.get("secretKey") as Json);
    if (json.has("durationMs")) durationMs = whole(text(json.get("durationMs") as Json));
  }
  if (!exchange.admit()) return;
  exchange.core.claiming.open(exchange.device, secretKey, durationMs);
  exchange.answer(200);
}

function text(json: Json): string {
  if (json instanceof JsonNumber) return json.text;
  if (typeof json === "string" || typeof json === "boolean") return String(json);
  throw new MemberError("null or no single value");
}

const DIGITS = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

function whole(digits: string): number {
  if (!DIGITS.test(digits)) throw new MemberError("durationMs is no number");
  return Math.trunc(Number(digits));
}
