import { DIGITS, isMadeOf } from "../../wire/text/characters.js";

const MAX_PARTS = 8;

/** The numbers of `1.2.0` or `v1.2.0`, at most eight; undefined for everything else. */
export const versionNumbers = (version: unknown): number[] | undefined => {
  if (typeof version !== "string") return undefined;
  const parts = (version.startsWith("v") ? version.slice(1) : version).split(".");
  const isRead = parts.length <= MAX_PARTS && parts.every((part) => isMadeOf(part, DIGITS, 9));
  return isRead ? parts.map(Number) : undefined;
};

/**
 * True if `version` is a version and not older than `minimum`, which has numbers only. Missing
 * parts are 0. A suffix after a hyphen makes a version older; a suffix after a plus is ignored.
 */
export const isAtLeast = (version: string, minimum: string): boolean => {
  const text = version.split("+")[0] as string;
  const hyphen = text.indexOf("-");
  const numbers = versionNumbers(hyphen < 0 ? text : text.slice(0, hyphen));
  const least = versionNumbers(minimum);
  if (!numbers || !least) return false;
  for (let i = 0; i < MAX_PARTS; i++) {
    const difference = (numbers[i] ?? 0) - (least[i] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return hyphen < 0;
};
