// Validation rules for options, as tables, and the function that applies them.
import { isObject, type JsonObject } from "../wire/text/json.js";

/** A whole number: default, minimum and maximum. */
export type Range = readonly [preset: number, min: number, max: number];
/** Two choices; the first is the default. */
export type Choices = readonly [string | boolean, string | boolean];
/** Returns the problem of a value (or of a missing one), as the end of a sentence. */
export type Check = (value: unknown) => string | undefined;
/** Rules by option name; a nested object is a group of options. */
export type Rules = { readonly [name: string]: Range | Choices | Check | Rules };

/**
 * Adds every mistake in `options` to `wrong`, by name. Values are never quoted, because they may be
 * secret.
 */
export const checkRules = (group: string, options: unknown, rules: Rules, wrong: string[]): void => {
  if (!isObject(options)) {
    wrong.push(`${group.slice(0, -1)} must be an object of options`);
    return;
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(rules, name)) wrong.push(`unknown option "${group}${name}"`);
  }
  for (const name of Object.keys(rules)) {
    const rule = rules[name] as Rules[string];
    const value: unknown = options[name];
    if (typeof rule !== "function" && !Array.isArray(rule)) {
      if (value !== undefined) checkRules(`${group}${name}.`, value, rule as Rules, wrong);
      continue;
    }
    const problem = typeof rule === "function" ? rule(value) : problemOf(rule as Range | Choices, value);
    if (problem !== undefined) wrong.push(`${group}${name} ${problem}`);
  }
};

const problemOf = (rule: Range | Choices, value: unknown): string | undefined => {
  if (value === undefined) return undefined;
  if (typeof rule[0] !== "number") {
    if (rule.includes(value as never)) return undefined;
    return `must be ${rule.map((choice) => JSON.stringify(choice)).join(" or ")}`;
  }
  const [, min, max] = rule as Range;
  if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return undefined;
  return `must be a whole number from ${min} to ${max}`;
};

/** `options`, with defaults for missing ranges and choices. */
export const withDefaults = <T>(
  options: object | undefined,
  rules: { readonly [name: string]: Range | Choices },
): T => {
  const all: JsonObject = {};
  for (const name of Object.keys(rules))
    all[name] = (options as JsonObject)?.[name] ?? (rules[name] as Choices)[0];
  return all as T;
};

/** A required string of 1 to 255 characters. */
export const isText: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && value.length <= 255
    ? undefined
    : "must be a string of 1 to 255 characters";

export const isCall: Check = (value) =>
  value === undefined || typeof value === "function" ? undefined : "must be a function";
