import test from "ava";
import { checkTs, encodePoint, TIMED_BYTES, writeAfter, writeBefore } from "../../src/wire/telemetry.js";
import { ascii } from "./support.js";

function batchOf(points: readonly string[], ts: number | undefined): string {
  const texts = points.map(ascii);
  const into = new Uint8Array(1000);
  let at = 0;
  texts.forEach((text, index) => {
    at = writeBefore(into, at, index, texts.length, ts === undefined ? undefined : ts + index);
    into.set(text, at);
    at = writeAfter(into, at + text.length, index, texts.length, ts !== undefined);
  });
  return new TextDecoder().decode(into.subarray(0, at));
}

test("one point with a time stamp leaves as an object", (t) => {
  t.is(
    batchOf(['{"temperature":21.5}'], 1700000000000),
    '{"ts":1700000000000,"values":{"temperature":21.5}}',
  );
});

test("several points with time stamps leave as an array", (t) => {
  t.is(
    batchOf(['{"a":1}', '{"b":"ü"}', '{"c":3}'], 1700000000998),
    '[{"ts":1700000000998,"values":{"a":1}},{"ts":1700000000999,"values":{"b":"ü"}},{"ts":1700000001000,"values":{"c":3}}]',
  );
});

test("points with the platform's time leave as an object or an array of objects", (t) => {
  t.is(batchOf(['{"a":1}'], undefined), '{"a":1}');
  t.is(batchOf(['{"a":1}', '{"b":2}'], undefined), '[{"a":1},{"b":2}]');
});

test("a time stamp adds the bytes that are said", (t) => {
  t.is('{"ts":1700000000000,"values":'.length + "}".length, TIMED_BYTES);
});

test("a time stamp has 13 digits and no fraction", (t) => {
  for (const ts of [1_000_000_000_000, 1_700_000_000_000, 9_999_999_999_999]) t.is(checkTs(ts), undefined);
  for (const ts of [
    1_700_000_000,
    1_700_000_000_000.5,
    10_000_000_000_000,
    0,
    -1,
    NaN,
    "1700000000000",
    undefined,
    null,
    1n,
  ]) {
    t.is(checkTs(ts), "ts must be a whole number of milliseconds since 1970, of 13 digits", String(ts));
  }
});

test("a point with both ts and values among its keys is refused, with one of them it is fine", (t) => {
  t.false(encodePoint({ ts: 1, values: { a: 1 } }).ok);
  t.true(encodePoint({ ts: 1 }).ok);
  t.true(encodePoint({ values: 1 }).ok);
  t.true(encodePoint({ nested: { ts: 1, values: 2 } }).ok);
});
