import test from "ava";
import fc from "fast-check";
import { Shapes } from "../../../src/wire/shapes.js";
import { encodePoint, PointEncoder } from "../../../src/wire/telemetry.js";
import { SecretRedactor } from "../../../src/wire/text/redactor.js";
import { fakeHost } from "../../fakes/host.js";

const LIMIT = 1000;

function learnt(values: object): Shapes {
  const shapes = new Shapes();
  shapes.learn(values);
  return shapes;
}

test("points with the keys of one before are written the quick way, whatever scalar they hold", (t) => {
  const shapes = learnt({ a: 1, b: 2 });
  t.is(shapes.write({ a: -1.5, b: true }, LIMIT), '{"a":-1.5,"b":true}');
  t.is(shapes.write({ a: 0.1 + 0.2, b: 'x"\ud800' }, LIMIT), '{"a":0.3,"b":"x\\"\ufffd"}');
  t.is(shapes.write({ a: 2n ** 60n, b: -0 }, LIMIT), '{"a":1152921504606846976,"b":0}');
  for (const values of [{ b: 1, a: 2 }, { a: 1 }, { a: 1, b: 2, c: 3 }, { a: 1, B: 2 }])
    t.is(shapes.write(values, LIMIT), undefined);
  for (const value of [null, undefined, Number.NaN, 2 ** 63, [], {}, () => 1, 2n ** 64n])
    t.is(shapes.write({ a: 1, b: value }, LIMIT), undefined);
});

test("a number that leaves as the engine writes it is the one that the careful way writes", (t) => {
  const shapes = learnt({ a: 1 });
  const edges = [
    1e-6,
    1e-7,
    1.5e-6,
    999999999.999999,
    1e9,
    1e9 + 0.1,
    2 ** 31,
    2 ** 53,
    123456.654321,
    1 / 3,
    4.35,
  ];
  fc.assert(
    fc.property(
      fc.oneof(
        fc.double(),
        fc.integer().map((n) => n / 1e6),
        fc.maxSafeInteger().map((n) => n / 1e7),
        fc.constantFrom(...edges),
      ),
      fc.boolean(),
      (size, negative) => {
        const a = negative ? -size : size;
        const careful = encodePoint({ a }, LIMIT);
        t.is(shapes.write({ a }, LIMIT), careful.ok ? careful.text : undefined);
      },
    ),
    { numRuns: 4000 },
  );
});

test("a value is read once: what was looked at is what leaves", (t) => {
  let reads = 0;
  const values = {
    get a() {
      return ++reads === 1 ? 1 : Number.NaN;
    },
  };
  t.is(learnt({ a: 1 }).write(values, LIMIT), '{"a":1}');
  t.is(reads, 1);
});

test("three shapes are kept, the last used of them, and only those with 16 plain keys at most", (t) => {
  const shapes = new Shapes();
  for (const key of ["a", "b", "c"]) shapes.learn({ [key]: 1 });
  t.is(shapes.write({ a: 1 }, LIMIT), '{"a":1}');
  shapes.learn({ e: 1 });
  shapes.learn({ e: 1 });
  const kept = ["a", "b", "c", "e"].filter((key) => shapes.write({ [key]: 1 }, LIMIT) !== undefined);
  t.is(kept.length, 3);
  t.true(kept.includes("a") && kept.includes("e"));
  t.is(learnt({ "a b": 1 }).write({ "a b": 1 }, LIMIT), undefined);
  const many = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, i]));
  t.is(learnt(many).write(many, LIMIT), undefined);
});

test("a text that is too long is not copied, and what throws is left to the careful way", (t) => {
  const shapes = learnt({ a: 1 });
  t.is(shapes.write({ a: "x".repeat(20) }, 20), undefined);
  t.is(shapes.write({ a: 123456 }, 12), undefined);
  const throws = {
    get a(): never {
      throw new Error("no");
    },
  };
  t.is(shapes.write(throws, LIMIT), undefined);
});

test("ts and values in one point are refused again and again", (t) => {
  const encoder = new PointEncoder(new SecretRedactor(fakeHost()));
  for (let n = 0; n < 3; n++) t.false(encoder.encode({ ts: n, values: n }, LIMIT).ok);
  t.true(encoder.encode({ ts: 1 }, LIMIT).ok);
});

test("what is written the quick way is what the careful way writes, and nothing else is written", (t) => {
  let quick = 0;
  class Tricky {
    value = 1;
    toJSON(): unknown {
      return { other: 2 };
    }
  }
  const key = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("temperature", "a", "b_1") },
    fc.constantFrom("temperature", "a.b-c_d", "0", "", "a b", "a,b", "ü", "\ud800", "__proto__", "toJSON"),
    fc.string(),
  );
  const value = fc.oneof(
    fc.integer(),
    fc.double(),
    fc.maxSafeInteger(),
    fc.double({ min: -1000, max: 1000 }).map((number) => Math.round(number * 100) / 100),
    fc.constantFrom(-0, 0.1 + 0.2, 1e-7, 1.5e-6, 1e15, 2 ** 53, 1e21, 12345678.1234567, 123456789.12345678),
    fc.boolean(),
    fc.string({ unit: "binary" }),
    fc.constantFrom('"', "\\", "\u007f\u2028", "\ud800", null, undefined, 1n, () => 1, Symbol("s")),
    fc.constantFrom([], [1], {}, { a: 1 }, new Date(0), new Map(), new Uint8Array(2), new Tricky()),
  );
  const whole = fc.oneof(
    { weight: 9, arbitrary: fc.dictionary(key, value, { maxKeys: 3 }) },
    fc.constantFrom<object>(new Tricky(), new Date(0), new Map(), new Uint8Array(2), new Number(1)),
  );
  // Points of few shapes, again and again with other values.
  const series = fc
    .tuple(fc.uniqueArray(key, { minLength: 1, maxLength: 4 }), fc.array(value))
    .map(([keys, values]) => {
      const points: object[] = [];
      for (let at = 0; at + keys.length <= values.length; at += keys.length)
        points.push(Object.fromEntries(keys.map((name, i) => [name, values[at + i]])));
      return points;
    });
  const all = fc.array(fc.oneof(series, fc.array(whole)), { maxLength: 4 }).map((lists) => lists.flat());
  fc.assert(
    fc.property(all, fc.integer({ min: 1, max: 90 }), (points, limit) => {
      const encoder = new PointEncoder(new SecretRedactor(fakeHost()));
      const shapes = new Shapes();
      for (const values of points) {
        const careful = encodePoint(values, limit);
        t.deepEqual(encoder.encode(values, limit), careful);
        const text = shapes.write(values, limit);
        if (text !== undefined) {
          quick++;
          t.deepEqual({ ok: true, text }, careful);
        }
        if (careful.ok) shapes.learn(values);
      }
    }),
    { numRuns: 1000 },
  );
  t.true(quick > 200, `${quick}`);
});
