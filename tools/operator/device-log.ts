// What a device answers to `mote.log` (extras/log), which may be anything.
import type { LogAnswer } from "../../extras/log/index.js";

/** Checked: undefined for anything else. */
export function logAnswer(value: unknown): LogAnswer | undefined {
  if (!isObject(value)) return undefined;
  const { log, build, uptime, level, lost, lines, since, more } = value;
  if (typeof log !== "string" || typeof level !== "string" || typeof more !== "boolean") return undefined;
  if (build !== null && typeof build !== "string") return undefined;
  if (!isCount(uptime) || !isWhole(lost) || !isWhole(since)) return undefined;
  if (!Array.isArray(lines) || !lines.every(isLine)) return undefined;
  return { log, build, uptime, level, lost, lines, since, more };
}

function isLine(value: unknown): value is LogAnswer["lines"][number] {
  if (!Array.isArray(value) || value.length !== 4) return false;
  const [number, uptime, level, text] = value;
  return isWhole(number) && isCount(uptime) && typeof level === "string" && typeof text === "string";
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && isCount(value);
