import { InvalidArgumentError } from "commander";
import { milliseconds } from "./usage.js";

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})?$/;
const EPOCH_MS = /^\d{12,15}$/;
/** The largest time that a Date holds. */
const MOST = 8_640_000_000_000_000;

const HELP =
  "Expected a date (2026-01-31, 2026-01-31T12:00), milliseconds since 1970, -7d, -12h, -30m, today, yesterday or now.";

/**
 * Parses `2026-01-31` (its first instant, local time), `2026-01-31T12:00`, `2026-01-31T12:00:00Z`,
 * 13 digits, `-7d`, `today`, `yesterday` or `now` to milliseconds since 1970. For commander.
 */
export function parseTime(text: string, now: number = Date.now()): number {
  const found = relative(text, now) ?? absolute(text);
  if (found === undefined || !Number.isSafeInteger(found) || Math.abs(found) > MOST)
    throw new InvalidArgumentError(HELP);
  return found;
}

/** Like `parseTime`, but a day means its last instant, so that a range includes the day. */
export function parseLast(text: string, now: number = Date.now()): number {
  const first = parseTime(text, now);
  return DAY.test(text) || text === "today" || text === "yesterday" ? midnight(first, 1) - 1 : first;
}

function relative(text: string, now: number): number | undefined {
  if (text === "now") return now;
  if (text === "today") return midnight(now, 0);
  if (text === "yesterday") return midnight(now, -1);
  const ago = text.startsWith("-") ? milliseconds(text.slice(1)) : undefined;
  return ago === undefined ? undefined : now - ago;
}

function midnight(now: number, days: number): number {
  const date = new Date(now);
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime();
}

function absolute(text: string): number | undefined {
  if (EPOCH_MS.test(text)) return Number(text);
  // A date alone would be read as UTC.
  if (DAY.test(text)) return lawful(text, `${text}T00:00`);
  return MOMENT.test(text) ? lawful(text.slice(0, 10), text) : undefined;
}

/** Rejects February 30, which Date takes for a day in March. */
function lawful(day: string, moment: string): number | undefined {
  const noon = new Date(`${day}T12:00Z`);
  if (Number.isNaN(noon.getTime()) || noon.toISOString().slice(0, 10) !== day) return undefined;
  const ms = new Date(moment).getTime();
  return Number.isNaN(ms) ? undefined : ms;
}
