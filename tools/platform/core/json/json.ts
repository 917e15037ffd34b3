// JSON with its numbers as they were spelt: the type of a stored value depends on the spelling.

/** A number as it was spelt. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonObject = Map<string, Json>;
export type Json = null | boolean | string | JsonNumber | Json[] | JsonObject;

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A lone surrogate: the platform stores and sends a question mark. */
export function wellFormed(text: string): string {
  return text.replace(LONE, "?");
}

/** A text as the platform writes it: `"a"`. */
export function quoted(text: string): string {
  const json = JSON.stringify(wellFormed(text));
  return json.replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

interface Writing {
  /** Leaves out members that are null, but not items of a list. */
  readonly dropNulls?: boolean;
  /** Writes a number. Default: as it was spelt. */
  readonly number?: (text: string) => string;
}

export function jsonText(value: Json, writing: Writing = {}): string {
  const { dropNulls = false, number = (text) => text } = writing;
  if (value instanceof JsonNumber) return number(value.text);
  if (Array.isArray(value)) return `[${value.map((item) => jsonText(item, writing)).join(",")}]`;
  if (typeof value === "string") return quoted(value);
  if (!(value instanceof Map)) return JSON.stringify(value);
  const members: string[] = [];
  for (const [key, member] of value) {
    if (dropNulls && member === null) continue;
    members.push(`${quoted(key)}:${jsonText(member, writing)}`);
  }
  return `{${members.join(",")}}`;
}
