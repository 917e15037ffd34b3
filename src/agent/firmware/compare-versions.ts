import { characters, DIGITS, isMadeOf } from "../../wire/text/characters.js";

const LABEL = characters("09azAZ-.");
const MAX_PARTS = 8;

/**
 * Compares versions: below zero if `a` is older than `b`, above zero if newer, 0 if equal.
 * Undefined if either is not a version.
 * Parts between dots are numbers, missing parts are 0. A suffix after a hyphen makes a version
 * older; its parts are compared as SemVer does: numbers by value and before texts, and a shorter
 * suffix first. A suffix after a plus is ignored.
 */
export const compareVersions = (a: unknown, b: unknown): number | undefined => {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const left = read(a);
  const right = read(b);
  if (!left || !right) return undefined;
  for (let i = 0; i < MAX_PARTS; i++) {
    const difference = Number(left.parts[i] ?? 0) - Number(right.parts[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before === right.before) return 0;
  if (left.before === undefined) return 1;
  if (right.before === undefined) return -1;
  return compareSuffixes(left.before.split("."), right.before.split("."));
};

const compareSuffixes = (left: string[], right: string[]): number => {
  for (let i = 0; i < left.length && i < right.length; i++) {
    const difference = comparePart(left[i] as string, right[i] as string);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
};

const comparePart = (left: string, right: string): number => {
  const [isLeft, isRight] = [isNumber(left), isNumber(right)];
  if (isLeft && isRight) return Number(left) - Number(right);
  if (isLeft !== isRight) return isLeft ? -1 : 1;
  return left === right ? 0 : left < right ? -1 : 1;
};

const isNumber = (part: string): boolean => isMadeOf(part, DIGITS);

/** `before`: the suffix after the hyphen. */
const read = (version: string): { parts: string[]; before: string | undefined } | undefined => {
  const text = (version.startsWith("v") ? version.slice(1) : version).split("+")[0] as string;
  const hyphen = text.indexOf("-");
  const parts = (hyphen < 0 ? text : text.slice(0, hyphen)).split(".");
  const before = hyphen < 0 ? undefined : text.slice(hyphen + 1);
  const isRead = parts.length <= MAX_PARTS && parts.every((part) => isMadeOf(part, DIGITS, 9));
  return isRead && (before === undefined || isMadeOf(before, LABEL)) ? { parts, before } : undefined;
};
