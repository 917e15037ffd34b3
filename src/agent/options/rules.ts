// What options may be, as tables, and the one look at all of them.
import { isObject, type JsonObject } from "../../wire/text/json.js";

/** A whole number: its default, the least and the most. */
export type Range = readonly [normal: number, least: number, most: number];
/** The default and the others. */
export type Choices = readonly [string | boolean, string | boolean];
/** What is wrong with a value, as the rest of a sentence; it sees what is left out, too. */
export type Judge = (value: unknown) => string | undefined;
/** A group of options has rules of its own. */
export type Rules = { readonly [name: string]: Range | Choices | Judge | Rules };

/** Adds each mistake in `options` by name to `wrong`. No value is quoted: it may be a secret. */
export const checkRules = (group: string, options: unknown, rules: Rules, wrong: string[]): void => {
  if (!isObject(options)) {
    wrong.push(`${group.slice(0, -1)} is an object of options`);
    return;
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(rules, name)) wrong.push(`there is no option "${group}${name}"`);
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
    return `is ${rule.map((choice) => JSON.stringify(choice)).join(" or ")}`;
  }
  const [, least, most] = rule as Range;
  if (Number.isInteger(value) && (value as number) >= least && (value as number) <= most) return undefined;
  return `is a whole number from ${least} to ${most}`;
};

/** `options` with the defaults of ranges and choices for what is left out. */
export const withDefaults = <T>(
  options: object | undefined,
  rules: { readonly [name: string]: Range | Choices },
): T => {
  const all: JsonObject = {};
  for (const name of Object.keys(rules))
    all[name] = (options as JsonObject)?.[name] ?? (rules[name] as Choices)[0];
  return all as T;
};

/** A text of 1 to 255 characters that can't be left out. */
export const isText: Judge = (value) =>
  typeof value === "string" && value.trim() !== "" && value.length <= 255
    ? undefined
    : "is a text of 1 to 255 characters";

export const isCall: Judge = (value) =>
  value === undefined || typeof value === "function" ? undefined : "is a function";

/** For options of what the lean build lacks. */
export const refuseLeftOut: Judge = (value) =>
  value === undefined ? undefined : "is left out of this build";
