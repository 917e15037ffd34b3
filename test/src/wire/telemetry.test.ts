import test from "ava";
import fc from "fast-check";
import {
  BEFORE_BYTES,
  encodePoint,
  FRAME_BYTES,
  PointFrame,
  TIMED_BYTES,
} from "../../../src/wire/telemetry.js";
import { at } from "../../fakes/time.js";

/** What a frame of its own writes for these, one after the other. */
function framesOf(stamps: readonly number[]): string[] {
  const bytes = new Uint8Array(100);
  const frame = new PointFrame(bytes, 10);
  return stamps.map((ts) => {
    bytes.fill(0x2e, 50);
    const end = frame.write(50, at(ts));
    const text = new TextDecoder().decode(bytes.subarray(50, end));
    holdsNothingBeyond(bytes, end);
    return text;
  });
}

function holdsNothingBeyond(bytes: Uint8Array, end: number): void {
  if (bytes.subarray(end).some((byte) => byte !== 0x2e)) throw new Error("it wrote beyond its end");
}

test("the frame of a point holds its time stamp, whatever the one before was", (t) => {
  const stamp = fc.integer({ min: 1_000_000_000_000, max: 9_999_999_999_999 });
  const near = fc
    .tuple(stamp, fc.array(fc.integer({ min: -1500, max: 1_500_000 }), { maxLength: 8 }))
    .map(([ts, steps]) => {
      const all = [ts];
      for (const step of steps)
        all.push(Math.min(9_999_999_999_999, Math.max(1_000_000_000_000, all.at(-1)! + step)));
      return all;
    });
  fc.assert(
    fc.property(fc.oneof(fc.array(stamp, { minLength: 1 }), near), (stamps) => {
      t.deepEqual(
        framesOf(stamps),
        stamps.map((ts) => `,{"ts":${ts},"values":`),
      );
    }),
  );
});

test("a time stamp adds the bytes that are said", (t) => {
  t.is('{"ts":1700000000000,"values":'.length + "}".length, TIMED_BYTES);
  t.is(BEFORE_BYTES, ',{"ts":1700000000000,"values":'.length);
  t.is(FRAME_BYTES, '[{"ts":1700000000000,"values":}]'.length);
});

test("a point with both ts and values among its keys is refused, with one of them it is fine", (t) => {
  t.false(encodePoint({ ts: 1, values: { a: 1 } }).ok);
  t.true(encodePoint({ ts: 1 }).ok);
  t.true(encodePoint({ values: 1 }).ok);
  t.true(encodePoint({ nested: { ts: 1, values: 2 } }).ok);
});
