import type { Exchange } from "./exchange.js";
import { parseInteger } from "./query.js";

/** Checks `timeout`: milliseconds; 0, absent or empty is the platform's own time. */
export function bindPoll(exchange: Exchange): string | undefined {
  const text = exchange.parameter("timeout");
  if (text === undefined || text === "" || parseInteger(text, 64) !== undefined) return undefined;
  return wrongNumber("timeout", "long", text);
}

export function pollTimeout(exchange: Exchange): number {
  return parseInteger(exchange.parameter("timeout") ?? "", 64) ?? 0;
}

export function wrongNumber(name: string, type: "int" | "long" | "java.lang.Integer", text: string): string {
  return `Method parameter '${name}': Failed to convert value of type 'java.lang.String' to required type '${type}'; For input string: "${text}"`;
}
