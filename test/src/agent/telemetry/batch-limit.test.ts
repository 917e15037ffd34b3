// How much goes in one request after a platform took less, or refused.
import test from "ava";
import type { Batch } from "../../../../src/agent/telemetry/batch.js";
import { BatchLimit } from "../../../../src/agent/telemetry/batch-limit.js";

/** A batch of so many points, or of these keys of one. */
const batch = (points: number, keys = 0, fromKey = 0, toKey = keys): Batch => ({
  points,
  keys,
  fromKey,
  toKey,
  number: 0,
  body: new Uint8Array(),
  guessed: 0,
});

test("a platform that is busy gets half of it, and a quarter more after each fourth request that passes", (t) => {
  const limit = new BatchLimit(100);
  t.true(limit.busy(batch(100)));
  t.is(limit.points, 50);
  const points = Array.from({ length: 16 }, () => {
    limit.done(batch(limit.points));
    return limit.points;
  });
  t.deepEqual(points, [50, 50, 50, 63, 63, 63, 63, 79, 79, 79, 79, 99, 99, 99, 99, 100]);
});

test("a request that is turned down between begins the four again", (t) => {
  const limit = new BatchLimit(100);
  limit.busy(batch(100));
  for (let i = 0; i < 3; i++) limit.done(batch(50));
  limit.busy(batch(50));
  for (let i = 0; i < 3; i++) limit.done(batch(25));
  t.is(limit.points, 25);
  limit.done(batch(25));
  t.is(limit.points, 32);
});

test("what is refused for its content is looked for by halves, and behind it the batches are soon whole", (t) => {
  const limit = new BatchLimit(100);
  t.true(limit.refused(batch(3), false));
  t.is(limit.points, 1);
  t.false(limit.refused(batch(1, 5), false));
  const points = Array.from({ length: 8 }, () => {
    limit.done(batch(limit.points));
    return limit.points;
  });
  t.deepEqual(points, [2, 4, 8, 16, 32, 64, 100, 100]);
});

test("a point that is too large goes by half of its keys, down to one, and then by more of them again", (t) => {
  const limit = new BatchLimit(100);
  t.true(limit.refused(batch(1, 9), true));
  t.is(limit.keys, 5);
  t.true(limit.refused(batch(1, 9, 0, 2), true));
  t.is(limit.keys, 1);
  t.false(limit.refused(batch(1, 9, 0, 1), true));
  for (let i = 0; i < 4; i++) limit.done(batch(1, 9, 0, 1));
  t.is(limit.keys, 2);
  // As many as the point has: from then on whole points go.
  limit.keys = 9;
  for (let i = 0; i < 4; i++) limit.done(batch(1, 9));
  t.is(limit.keys, Number.POSITIVE_INFINITY);
  t.is(limit.points, 2);
});

test("what was refused before a sleep goes alone, and behind it the batches are soon whole", (t) => {
  const limit = new BatchLimit(10);
  limit.alone();
  t.is(limit.points, 1);
  limit.done(batch(1));
  t.is(limit.points, 2);
});
