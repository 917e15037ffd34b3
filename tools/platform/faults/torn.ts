import type { Random } from "../core/common/random.js";
import { type Json, type JsonObject, jsonText } from "../core/json/json.js";
import { JsonSyntaxError, parseJson } from "../core/json/json-reader.js";

interface Shown {
  text: string;
  set: JsonObject;
  /** The set before that one; empty at first. */
  earlier: JsonObject;
}

const FIRMWARE = /^[fs]w_/;
const MOST = 1_000;

/** Answers to GET attributes in which the firmware's values are not of one moment. */
export class TornSets {
  readonly #shown = new Map<string, Shown>();

  /** Replaces at least one firmware value by its earlier one, at random. */
  tear(device: string, json: string, random: Random): string {
    const answer = read(json);
    const shared = answer?.get("shared");
    if (!answer || !(shared instanceof Map)) return json;
    const set = new Map([...shared].filter(([key]) => FIRMWARE.test(key)));
    const { earlier } = this.#note(device, set);
    const differing = [...new Set([...set.keys(), ...earlier.keys()])].filter(
      (key) => textOf(set.get(key)) !== textOf(earlier.get(key)),
    );
    if (differing.length === 0) return json;
    const surely = random(differing.length);
    differing.forEach((key, index) => {
      if (index !== surely && random(2) === 0) return;
      const old = earlier.get(key);
      if (old === undefined) shared.delete(key);
      else shared.set(key, old);
    });
    if (shared.size === 0) answer.delete("shared");
    return jsonText(answer);
  }

  #note(device: string, set: JsonObject): Shown {
    const text = jsonText(set);
    const before = this.#shown.get(device);
    if (before?.text === text) return before;
    const shown = { text, set, earlier: before?.set ?? new Map() };
    this.#shown.set(device, shown);
    for (const oldest of this.#shown.keys()) {
      if (this.#shown.size <= MOST) break;
      this.#shown.delete(oldest);
    }
    return shown;
  }
}

function textOf(json: Json | undefined): string | undefined {
  return json === undefined ? undefined : jsonText(json);
}

function read(text: string): JsonObject | undefined {
  try {
    const json = parseJson(text);
    return json instanceof Map ? json : undefined;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}
