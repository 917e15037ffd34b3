// Times of tests as time stamps; one out of bounds is a mistake of the test.
import { isTimestamp, type TimeSource, type Timestamp } from "../../src/wire/timestamp.js";

/** `ms` as if it came from whichever source the place asks for. */
export function at<Source extends TimeSource>(ms: number): Timestamp<Source> {
  if (!isTimestamp(ms)) throw new Error(`no time stamp: ${ms}`);
  return ms as unknown as Timestamp<Source>;
}
