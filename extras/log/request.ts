// Validates the params of `mote.log`.
import { MoteError } from "../../src/errors.js";

/** From the lowest. */
export const LEVELS = ["debug", "info", "warn", "error"] as const;
const BYTES = 2000;
const LEAST_BYTES = 256;
const MOST_BYTES = 65_536;
const MEMBERS = ["level", "bytes", "since"];

export interface LogRequest {
  /** The lowest level, as an index into LEVELS. */
  readonly level: number;
  /** Maximum size of the answer. */
  readonly bytes: number;
  /** Return the lines after this number; undefined: the newest. */
  readonly since: number | undefined;
}

/** Throws `BAD_PARAMS`. */
export const checkRequest = (params: unknown): LogRequest => {
  const given = params === null || params === undefined ? {} : params;
  if (typeof given !== "object" || Array.isArray(given)) throw bad("params must be an object or missing");
  const { level = LEVELS[0], bytes = BYTES, since } = given as Record<string, unknown>;
  const unknown = Object.keys(given).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) throw bad("params may only contain level, bytes and since");
  const at = levelOf(level);
  if (at < 0) throw bad(`level must be one of ${LEVELS.join(", ")}`);
  if (!isCount(bytes, LEAST_BYTES, MOST_BYTES))
    throw bad(`bytes must be an integer from ${LEAST_BYTES} to ${MOST_BYTES}`);
  if (since !== undefined && !isCount(since, 0, 0xffffffff))
    throw bad("since must be a line number, 0 to 4294967295");
  return { level: at, bytes, since };
};

/** -1 if unknown. */
export const levelOf = (level: unknown): number => (LEVELS as readonly unknown[]).indexOf(level);

const isCount = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;

const bad = (what: string): MoteError => new MoteError("BAD_PARAMS", what);
