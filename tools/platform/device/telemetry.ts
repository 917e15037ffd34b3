import { type Json, type JsonObject, jsonText } from "../core/json/json.js";
import { asLong, MemberError } from "../core/json/json-access.js";
import { parseJson } from "../core/json/json-reader.js";
import type { Values } from "../core/platform.js";
import { typedTwice, type Value } from "../core/values.js";
import { type Exchange, ShapeError } from "./exchange.js";

/** `{"k":1}`, `{"ts":1,"values":{"k":1}}`, or a list of either. */
export function postTelemetry(exchange: Exchange): void {
  const elements = readElements(exchange.text);
  if (elements.length === 0) {
    exchange.hang();
    return;
  }
  const now = exchange.now();
  const { core, device } = exchange;
  exchange.store(() => {
    for (const { ts, values } of elements) core.receiveTelemetry(device, ts ?? now, values);
  });
  exchange.answer(200);
}

export interface Element {
  /** Undefined: the platform's own time. */
  readonly ts: number | undefined;
  readonly values: Values;
}

/** Throws JsonSyntaxError, ShapeError and MemberError. */
export function readElements(text: string): Element[] {
  const json = parseJson(text);
  return (Array.isArray(json) ? json : [json]).map(element);
}

function element(json: Json): Element {
  if (!(json instanceof Map)) throw new ShapeError(cantParse(json));
  const ts = json.get("ts");
  const values = json.get("values");
  if (ts === undefined || values === undefined) return { ts: undefined, values: valuesOf(json) };
  if (!(values instanceof Map)) throw new MemberError("values is not an object");
  return { ts: timestamp(ts), values: valuesOf(values) };
}

/** What is stored of an object; members that are null are skipped. Throws NumberTooLongError. */
export function valuesOf(object: JsonObject): Values {
  const values: [string, Value][] = [];
  for (const [key, member] of object) {
    const value = typedTwice(member);
    if (value !== undefined) values.push([key, value]);
  }
  return values;
}

/** The text of the answer to a body of the wrong kind. */
export function cantParse(json: Json): string {
  return `Can't parse value: ${jsonText(json).slice(0, 1_000)}`;
}

/** As good as no time at all: the platform takes its own. */
const NO_TIME = -(2n ** 63n);

function timestamp(json: Json): number | undefined {
  const ts = asLong(json);
  return ts === NO_TIME ? undefined : Number(ts);
}
