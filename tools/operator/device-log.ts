// What a device answers to `mote.log` (extras/diagnostics), which may be anything.
import type { LogAnswer } from "../../extras/diagnostics/index.js";

/** Checked: undefined for anything else. */
export function logAnswer(value: unknown): LogAnswer | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { build, uptime, lines } = value as Record<string, unknown>;
  if (build !== null && typeof build !== "string") return undefined;
  if (!isCount(uptime) || !Array.isArray(lines) || !lines.every(isLine)) return undefined;
  return { build, uptime, lines };
}

function isLine(value: unknown): value is LogAnswer["lines"][number] {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [uptime, level, text] = value;
  return isCount(uptime) && typeof level === "string" && typeof text === "string";
}

const isCount = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value >= 0;
