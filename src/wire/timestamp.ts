// A validated point in time. Only validated values are sent, stored as time, or learned as time of
// day.

declare const checkedBy: unique symbol;

/** The source of a time: the host's clock, an answer of the server, or the application. */
export type TimeSource = "device" | "server" | "application";

/**
 * Whole milliseconds since 1970 (UTC), within the bounds of its source. Created only in this
 * module.
 */
export type Timestamp<Source extends TimeSource = TimeSource> = number & { readonly [checkedBy]: Source };

/** 2001-09-09: from here on, times have the 13 digits that the platform requires. */
const FIRST_MS = 1_000_000_000_000;
/** 2286-11-20: from here on, times have 14 digits. */
const END_MS = 10_000_000_000_000;
/**
 * 2100-01-01: limit for clocks of devices and servers. Leaves room for points that count on from a
 * clock's time.
 */
const CLOCK_END_MS = 4_102_444_800_000;

/** Validates a clock's time; undefined if implausible. */
export const clockTimestamp = <Source extends "device" | "server">(
  ms: number | undefined,
): Timestamp<Source> | undefined => {
  if (ms === undefined || !(ms >= FIRST_MS && ms < CLOCK_END_MS)) return undefined;
  return (ms - (ms % 1)) as Timestamp<Source>;
};

/**
 * True if the platform accepts the number as a time stamp: whole ms with 13 digits (2001 to 2286).
 */
export const isTimestamp = (ms: number): ms is Timestamp => {
  return ms >= FIRST_MS && ms < END_MS && ms % 1 === 0;
};

/**
 * Validates the application's `ts`; returns the problem as a string. Detects seconds and impossible
 * years.
 */
export const applicationTimestamp = (ts: unknown): Timestamp<"application"> | string => {
  if (typeof ts === "number" && isTimestamp(ts)) return ts as Timestamp<"application">;
  return "ts must be a whole number of milliseconds since 1970, with 13 digits";
};
