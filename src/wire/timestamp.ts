// A point in time that was checked against its bounds. Only such a value is sent, stored as a time, or learnt as the time of day.

declare const checkedBy: unique symbol;

/** Who named the time: the host's clock, an answer of the server, or the application. */
export type TimeSource = "device" | "server" | "application";

/** Whole milliseconds since 1970 (UTC), within the bounds of its source. Only this module makes one. */
export type Timestamp<Source extends TimeSource = TimeSource> = number & { readonly [checkedBy]: Source };

/** 2001-09-09: from here on a time has the 13 digits that the platform takes. */
const FIRST_MS = 1_000_000_000_000;
/** 2286-11-20: from here on it has 14 digits. */
const END_MS = 10_000_000_000_000;
/** 2100-01-01: no clock of a device or server is right beyond. Points count on from a clock's time, and still have 13 digits. */
const CLOCK_END_MS = 4_102_444_800_000;

/** A clock's time as a time stamp, or undefined for a time that no clock of today may show. */
export const clockTimestamp = <Source extends "device" | "server">(
  ms: number | undefined,
): Timestamp<Source> | undefined => {
  if (ms === undefined || !(ms >= FIRST_MS && ms < CLOCK_END_MS)) return undefined;
  return (ms - (ms % 1)) as Timestamp<Source>;
};

/** True for a number that the platform takes as the time of a point: whole milliseconds of 13 digits (2001 to 2286). */
export const isTimestamp = (ms: number): ms is Timestamp => {
  return ms >= FIRST_MS && ms < END_MS && ms % 1 === 0;
};

/** The application's `ts`, or why it can't be used. The bounds catch seconds, and years that the platform can't hold. */
export const applicationTimestamp = (ts: unknown): Timestamp<"application"> | string => {
  if (typeof ts === "number" && isTimestamp(ts)) return ts as Timestamp<"application">;
  return "ts must be a whole number of milliseconds since 1970, of 13 digits";
};
