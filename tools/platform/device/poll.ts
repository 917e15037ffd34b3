import type { Exchange } from "./exchange.js";
import { numberOf, wrongParameter } from "./numbers.js";

/** Checks `timeout`: milliseconds; 0, absent or empty is the platform's own time. */
export function bindPoll(exchange: Exchange): string | undefined {
  return wrongParameter(exchange, "timeout", "long");
}

export function pollTimeout(exchange: Exchange): number {
  return numberOf(exchange, "timeout");
}
