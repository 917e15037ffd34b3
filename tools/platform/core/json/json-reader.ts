import { parse } from "lossless-json";
import { depthOf } from "../../../operator/typed-json.js";
import { type Json, JsonNumber } from "./json.js";

/** Reports that a text is not JSON. A server puts its own parser's message into the answer. */
export class JsonSyntaxError extends Error {
  override name = "JsonSyntaxError";
}

const DEEPEST = 255;

/**
 * Reads one document with its numbers as they were spelt. Of equal keys the last counts. A blank
 * text is null.
 * A server also takes unquoted keys, single quotes, comments, `;`, `=` and a byte order mark:
 * refused here. Throws JsonSyntaxError.
 */
export function parseJson(text: string): Json {
  if (text.trim() === "") return null;
  // The library recurses: bound the depth before it reads.
  if (depthOf(text) > DEEPEST) throw new JsonSyntaxError(`Nesting limit ${DEEPEST} reached`);
  try {
    return converted(
      parse(text, null, {
        parseNumber: (spelling) => new JsonNumber(spelling),
        onDuplicateKey: ({ newValue }) => newValue,
      }),
    );
  } catch (error) {
    throw new JsonSyntaxError(error instanceof Error ? error.message : String(error));
  }
}

function converted(value: unknown): Json {
  if (Array.isArray(value)) return value.map(converted);
  if (typeof value !== "object" || value === null || value instanceof JsonNumber) return value as Json;
  return new Map(Object.entries(value).map(([key, member]) => [key, converted(member)]));
}
