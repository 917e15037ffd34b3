import type { Json } from "../core/json/json.js";
import { asLong, asText } from "../core/json/json-access.js";
import { type Exchange, ShapeError } from "./exchange.js";
import { cantParse } from "./telemetry.js";

/** `{"secretKey":"…","durationMs":60000}`; body and members are optional. Answers 200. */
export function claim(exchange: Exchange): void {
  let secretKey = "";
  let durationMs = 0;
  if (exchange.text !== "") {
    const json = exchange.json();
    if (!(json instanceof Map)) throw new ShapeError(cantParse(json));
    if (json.has("secretKey")) secretKey = asText(json.get("secretKey") as Json);
    if (json.has("durationMs")) durationMs = Number(asLong(json.get("durationMs") as Json));
  }
  exchange.core.claiming.open(exchange.device, secretKey, durationMs);
  exchange.answer(200);
}
