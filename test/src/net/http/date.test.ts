import test from "ava";
import fc from "fast-check";
import { parseDate } from "../../../../src/net/http/date.js";

const parse = (text: string) => {
  const bytes = Buffer.from(`..${text}..`);
  return parseDate(bytes, 2, bytes.length - 2);
};

test("every second from 1970 to 9999 is read as it is written", (t) => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: last }), (seconds) => {
      t.is(parse(new Date(seconds * 1000).toUTCString()), seconds * 1000);
    }),
  );
  t.is(parse("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777_000);
  t.is(parse("Thu, 29 Feb 2024 00:00:00 GMT"), Date.UTC(2024, 1, 29));
  t.is(parse("Sat, 31 Dec 2016 23:59:60 GMT"), Date.UTC(2017, 0, 1));
});

test("what is no such date is undefined", (t) => {
  for (const text of [
    "",
    "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 06 Nov 1994 08:49:37 +0100",
    "Sun, 06 Nov 1994 08:49:37 GMT ",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Sun, 29 Feb 2023 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nox 1994 08:49:37 GMT",
    "Sun, 06 Nov 1969 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT",
    "Sun, 06 Nov 1994 08:60:00 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 1994 08-49-37 GMT",
    "Sun, 06 Nov -994 08:49:37 GMT",
  ])
    t.is(parse(text), undefined, text);
});
