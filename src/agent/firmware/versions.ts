import { lazyRegExp } from "../../wire/text/regexp.js";

const VERSION = lazyRegExp(() => /^v?(\d{1,9}(?:\.\d{1,9}){0,7})(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/);

/**
 * Below zero if `a` is older than `b`, above if newer, 0 if neither; undefined if one of them is no version. Parts between dots are numbers, a missing
 * one is 0; what follows a hyphen makes it older than without, and is compared as text; what follows a plus does not count.
 */
export const compareVersions = (a: unknown, b: unknown): number | undefined => {
  if (typeof a !== "string" || typeof b !== "string") return undefined;
  const left = VERSION().exec(a);
  const right = VERSION().exec(b);
  if (!left || !right) return undefined;
  const ours = (left[1] ?? "").split(".");
  const theirs = (right[1] ?? "").split(".");
  for (let i = 0; i < Math.max(ours.length, theirs.length); i++) {
    const difference = Number(ours[i] ?? 0) - Number(theirs[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (left[2] === right[2]) return 0;
  if (left[2] === undefined) return 1;
  if (right[2] === undefined) return -1;
  return left[2] < right[2] ? -1 : 1;
};
