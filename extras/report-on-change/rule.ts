// Rules by key and their validation:
//
//   {"temperature":{"onChange":0.5,"heartbeatMs":600000},"power":{"windowMs":60000},"door":{}}
//
// A key without a rule, or with `{}`, is reported each time.
import { isObject } from "../../src/wire/text/json.js";

/** The rule of one key. A value is reported if any member asks for it. */
export interface ReportRule {
  /**
   * Reports the first value, and each one that differs from the last reported value by at least
   * this much; 0: any difference. Strings, booleans and JSON are reported when they differ; a
   * BigInt, or more than 64 characters, each time.
   */
  readonly onChange?: number | undefined;
  /**
   * The same in percent of the last reported value, 0 to 1,000. With both, the wider one applies.
   */
  readonly onChangePercent?: number | undefined;
  /**
   * Repeats the last value when nothing of the key was reported for this time in ms, 100 to
   * 604,800,000. The first value is reported at once.
   */
  readonly heartbeatMs?: number | undefined;
  /**
   * Reports KEY_min, KEY_max, KEY_mean and KEY_count of all numbers within this time, as one point;
   * in ms, 100 to 604,800,000. A window begins with its first number. Other values are reported
   * when they differ.
   */
  readonly windowMs?: number | undefined;
}

/** Maximum number of keys with a rule. */
const MOST_KEYS = 32;

interface Range {
  readonly most: number;
  readonly least: number;
  readonly whole: boolean;
}

const PERIOD: Range = { least: 100, most: 604_800_000, whole: true };
const RANGES: { readonly [name: string]: Range } = {
  onChange: { least: 0, most: 1e15, whole: false },
  onChangePercent: { least: 0, most: 1000, whole: false },
  heartbeatMs: PERIOD,
  windowMs: PERIOD,
};

/** Lists every mistake in rules by key and name, without values. `keyProblem` checks a key. */
export const checkRules = (rules: unknown, keyProblem: (key: string) => string | undefined): string[] => {
  if (!isObject(rules)) return ["expected an object of keys and rules"];
  const keys = Object.keys(rules);
  if (keys.length > MOST_KEYS) return [`more than ${MOST_KEYS} keys`];
  return keys.flatMap((key) => keyProblem(key) ?? problemsOf(key, rules[key]));
};

const problemsOf = (key: string, rule: unknown): string[] => {
  if (!isObject(rule)) return [`${key} must be an object with ${Object.keys(RANGES).join(", ")}`];
  return Object.keys(rule).flatMap((name) => {
    const value = rule[name];
    const range = Object.hasOwn(RANGES, name) ? RANGES[name] : undefined;
    if (!range) return [`unknown option "${name}" (${key})`];
    if (value === undefined || fits(value, range)) return [];
    const what = range.whole ? "a whole number" : "a number";
    return [`${key}.${name} must be ${what} from ${range.least} to ${range.most}`];
  });
};

const fits = (value: unknown, { least, most, whole }: Range): boolean => {
  if (typeof value !== "number" || !(value >= least && value <= most)) return false;
  return !whole || Number.isInteger(value);
};

/** False for `{}`, which reports each value. */
export const hasRule = (rule: ReportRule): boolean =>
  Object.values(rule).some((value) => value !== undefined);
