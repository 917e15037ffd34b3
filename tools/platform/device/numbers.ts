import type { Exchange } from "./exchange.js";

const BITS = { int: 32, long: 64, "java.lang.Integer": 32 } as const;
type NumberType = keyof typeof BITS;

/** Returns the message of a 400 if the text is not a whole number of that type. */
export function wrongNumber(name: string, type: NumberType, text: string): string | undefined {
  const isNumber = /^[+-]?\d{1,30}$/.test(text);
  if (isNumber && BigInt.asIntN(BITS[type], BigInt(text)) === BigInt(text)) return undefined;
  return `Method parameter '${name}': Failed to convert value of type 'java.lang.String' to required type '${type}'; For input string: "${text}"`;
}

/** Like `wrongNumber`, for the first value of a query parameter; empty is absent. */
export function wrongParameter(exchange: Exchange, name: string, type: NumberType): string | undefined {
  const text = exchange.parameter(name) ?? "";
  return text === "" ? undefined : wrongNumber(name, type, text);
}

/** A parameter that passed `wrongParameter`; 0 if it is absent. */
export function numberOf(exchange: Exchange, name: string): number {
  return Number(exchange.parameter(name) ?? "");
}

/** Checks `timeout` of a poll, in milliseconds; 0, absent or empty is the platform's own time. */
export const bindPoll = (exchange: Exchange): string | undefined =>
  wrongParameter(exchange, "timeout", "long");

export const pollTimeout = (exchange: Exchange): number => numberOf(exchange, "timeout");
