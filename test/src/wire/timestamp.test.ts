import test from "ava";
import { applicationTimestamp, clockTimestamp, isTimestamp } from "../../../src/wire/timestamp.js";

test("accepts an application's time of 13 digits without a fraction, and nothing else", (t) => {
  for (const ts of [1_000_000_000_000, 1_700_000_000_000, 9_999_999_999_999]) {
    t.is<unknown, unknown>(applicationTimestamp(ts), ts);
    t.true(isTimestamp(ts));
  }
  const seconds = 1_700_000_000;
  for (const ts of [seconds, seconds * 1000 + 0.5, 1e13, 0, -1, NaN, "1700000000000", undefined, null, 1n])
    t.is<unknown, unknown>(
      applicationTimestamp(ts),
      "ts must be a whole number of milliseconds since 1970, of 13 digits",
      String(ts),
    );
});

test("accepts a clock's time from 2001 to 2099, in whole milliseconds", (t) => {
  t.is<unknown, unknown>(clockTimestamp(1_700_000_000_000.7), 1_700_000_000_000);
  t.is<unknown, unknown>(clockTimestamp(Date.UTC(2100, 0, 1) - 1), Date.UTC(2100, 0, 1) - 1);
  for (const ms of [undefined, 0, 999_999_999_999, Date.UTC(2100, 0, 1), Date.UTC(9999, 0, 1), NaN, Infinity])
    t.is(clockTimestamp(ms), undefined);
});
