import { NumberError, parseInteger } from "../spring/convert.js";
import type { Exchange } from "./exchange.js";

const TYPES = { int: 32, long: 64, "java.lang.Integer": 32 } as const;

/** The message of a 400 if it is no number of that type. */
export function wrongNumber(name: string, type: keyof typeof TYPES, text: string): string | undefined {
  try {
    parseInteger(text, TYPES[type]);
    return undefined;
  } catch (error) {
    if (!(error instanceof NumberError)) throw error;
    return `Method parameter '${name}': Failed to convert value of type 'java.lang.String' to required type '${type}'; ${error.message}`;
  }
}

/** As `wrongNumber`, of a parameter of the query; empty is as good as absent, and of several the first counts. */
export function wrongParameter(exchange: Exchange, name: string, type: "int" | "long"): string | undefined {
  const all = exchange.query.get(name) ?? [];
  const [text = ""] = all;
  const wrong = text === "" ? undefined : wrongNumber(name, type, text);
  if (wrong === undefined || all.length === 1) return wrong;
  const joined = all.join(",");
  return wrongNumber(name, type, joined)?.replace("'java.lang.String'", "'java.lang.String[]'");
}

/** A parameter that was found right; 0 if it is absent. */
export function numberOf(exchange: Exchange, name: string, type: "int" | "long"): number {
  const text = exchange.query.get(name)?.[0] ?? "";
  return text === "" ? 0 : Number(parseInteger(text, TYPES[type]));
}
