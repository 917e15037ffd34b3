import { isMadeOf } from "../../wire/text/characters.js";

const MOST_PARTS = 8;

/**
 * Below zero if `a` is older than `b`, above if newer, 0 if neither; undefined if one of them is no version. Parts between dots are numbers, a missing
 * one is 0; what follows a hyphen makes it older than without, and is compared as text; what follows a plus does not count.
 */
export const compareVersions = (a: unknown, b: unknown): number | undefined => {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const left = read(a);
  const right = read(b);
  if (!left || !right) return undefined;
  for (let i = 0; i < MOST_PARTS; i++) {
    const difference = Number(left.parts[i] ?? 0) - Number(right.parts[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left.before === right.before) return 0;
  if (left.before === undefined) return 1;
  if (right.before === undefined) return -1;
  return left.before < right.before ? -1 : 1;
};

/** `before`: what follows the hyphen. */
const read = (version: string): { parts: string[]; before: string | undefined } | undefined => {
  const text = (version.startsWith("v") ? version.slice(1) : version).split("+")[0] as string;
  const hyphen = text.indexOf("-");
  const parts = (hyphen < 0 ? text : text.slice(0, hyphen)).split(".");
  const before = hyphen < 0 ? undefined : text.slice(hyphen + 1);
  const isRead = parts.length <= MOST_PARTS && parts.every((part) => isMadeOf(part, "09", 9));
  return isRead && (before === undefined || isMadeOf(before, "09azAZ-.")) ? { parts, before } : undefined;
};
