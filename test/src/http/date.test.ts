import test from "ava";
import fc from "fast-check";
import { parseDate, parseUsualDate } from "../../../src/http/date.js";

const parse = (text: string) => {
  const bytes = Buffer.from(`..${text}..`);
  return parseDate(bytes, 2, bytes.length - 2);
};

test("every second from 1970 to 9999 is read as it is written", (t) => {
  const last = Date.UTC(9999, 11, 31, 23, 59, 59) / 1000;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: last }), (seconds) => {
      const text = new Date(seconds * 1000).toUTCString();
      t.is(parse(text), seconds * 1000);
      t.is(parseUsualDate(text), seconds * 1000);
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

test("a text is read as its bytes are, or not at all", (t) => {
  for (const text of [
    "",
    "Sun, 06 Nov 1994 08:49:37 GMT",
    "Mon, 06 Nov 1994 08:49:37 GMT",
    "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 31 Nov 1994 08:49:37 GMT",
    "Thu, 06 Nov 1969 08:49:37 GMT",
    "Sat, 31 Dec 2016 23:59:60 GMT",
    "1994-11-06T08:49:37Z",
    "784111777000",
  ])
    t.true([undefined, parse(text)].includes(parseUsualDate(text)), text);
});
