import test from "ava";
import fc from "fast-check";
import { checkKey } from "../../../src/wire/keys.js";
import { encodeJson } from "../../../src/wire/text/encode.js";
import { encodeValues } from "../../../src/wire/values.js";

const reasonOf = (values: unknown, limit?: number): string => {
  const encoded = encodeValues(values, limit);
  return encoded.ok ? `accepted as ${encoded.text}` : encoded.reason;
};

test("values of every kind are written in the order they were given", (t) => {
  const values = {
    temperature: 21.5,
    count: 42,
    long: 9223372036854775807n,
    open: true,
    mode: "auto",
    empty: "",
    limits: { low: 0.1 + 0.2, high: [1, null, { deep: false }], none: {} },
    "größe.b-2": -1,
    "with space": "line\nbreak \u0000 \u007f \u2028",
  };
  t.deepEqual(encodeValues(values), {
    ok: true,
    text:
      '{"temperature":21.5,"count":42,"long":9223372036854775807,"open":true,"mode":"auto","empty":"",' +
      '"limits":{"low":0.3,"high":[1,null,{"deep":false}],"none":{}},"größe.b-2":-1,' +
      '"with space":"line\\nbreak \\u0000 \u007f \u2028"}',
  });
});

test("strings that look like numbers leave as they are", (t) => {
  t.deepEqual(encodeValues({ version: "1.10", id: "007" }), {
    ok: true,
    text: '{"version":"1.10","id":"007"}',
  });
});

test("a value that can't be stored is refused with a sentence that names it", (t) => {
  const loop: Record<string, unknown> = {};
  loop.inner = [loop];
  class Odd {
    get value(): number {
      throw new Error("no");
    }
  }
  const getter = Object.defineProperty({}, "x", { enumerable: true, get: () => new Odd().value });
  const cases: readonly (readonly [unknown, string])[] = [
    [{ a: undefined }, '"a" is undefined'],
    [{ a: NaN }, '"a" is NaN'],
    [{ a: { b: [0, -Infinity] } }, '"a"."b"[1] is -Infinity'],
    [{ a: 2 ** 63 }, '"a" is 9223372036854776000, beyond 64 bits'],
    [{ a: 2n ** 63n }, '"a" is beyond 64 bits'],
    [{ a: null }, '"a" is null, which the platform drops'],
    [{ a: { b: null } }, '"a"."b" is null, which the platform drops'],
    [{ a: () => 1 }, '"a" is a function'],
    [{ a: Symbol("s") }, '"a" is a symbol'],
    [{ a: { toJSON: () => 1 } }, '"a"."toJSON" is a function'],
    [{ a: new Date(0) }, `"a" is of type Date, which JSON can't hold`],
    [{ a: new Map() }, `"a" is of type Map, which JSON can't hold`],
    [{ a: Uint8Array.of(1) }, `"a" is of type Uint8Array, which JSON can't hold`],
    [{ a: Promise.resolve(1) }, `"a" is of type Promise, which JSON can't hold`],
    [{ a: [undefined] }, '"a"[0] is undefined'],
    // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested
    [{ a: [1, , 2] }, '"a"[1] is undefined'],
    [{ a: loop }, '"a"."inner"[0] refers to itself'],
    [{ "a,b": 1 }, '"a,b" is a key with a comma'],
    [{ ok: 1, "": 1 }, '"" is a blank key'],
    [{ a: "x".repeat(70_000) }, '"a" is too large'],
    [getter, "it holds a value that can't be read"],
    [{}, "there are no values"],
    [[1], "values must be an object of keys and values"],
    [null, "values must be an object of keys and values"],
    ["text", "values must be an object of keys and values"],
    [new Date(0), "it is of type Date, which JSON can't hold"],
  ];
  for (const [values, reason] of cases) t.is(reasonOf(values), reason);
});

test("a key has 1 to 255 characters and neither comma, markup, control characters nor halves of surrogate pairs", (t) => {
  for (const key of [
    "a",
    "fw_title",
    "a b",
    " a",
    "größe",
    "温度",
    "{a}",
    "a".repeat(255),
    "😀".repeat(127),
    "__proto__",
    "a\\ud",
  ]) {
    t.is(checkKey(key), undefined, key);
  }
  const refused = [
    "",
    " ",
    "\t\n",
    ",",
    "a,b",
    "a<b",
    "a>b",
    "<b>",
    "{{a}}",
    "a\u0000",
    "a\u007f",
    "\ud800",
    "a\udc00b",
  ];
  for (const key of [...refused, "a".repeat(256), "😀".repeat(128)]) {
    t.is(typeof checkKey(key), "string", JSON.stringify(key));
    t.true((checkKey(key) ?? "").length < 100);
  }
});

test("values nest 32 levels deep and no deeper", (t) => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { a: nested(levels - 1) });
  t.true(encodeValues(nested(32)).ok);
  t.regex(reasonOf(nested(33)), /is nested deeper than 32 levels$/);
});

test("an object that stands in many places at once is refused before it fills the memory", (t) => {
  let tree: unknown = { leaf: 1 };
  for (let i = 0; i < 25; i++) tree = { left: tree, right: tree };
  const encoded = encodeValues({ tree }, 10_000);
  t.true(!encoded.ok && encoded.tooLarge);
});

test("what is accepted is no longer than its limit, and what is half as long is accepted", (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ depthSize: "max", maxDepth: 5 }), fc.nat(200), (value, limit) => {
      const encoded = encodeJson(value, "free", limit);
      const length = JSON.stringify(value).length;
      return encoded.ok ? length <= limit : encoded.tooLarge && length * 2 > limit;
    }),
    { numRuns: 1000 },
  );
  let tree: unknown = [];
  for (let i = 0; i < 25; i++) tree = [tree, tree];
  t.false(encodeValues({ tree }, 10_000).ok);
});

test("halves of surrogate pairs leave as U+FFFD and whole pairs as they are", (t) => {
  t.deepEqual(encodeValues({ a: "x\ud800y\udc00z😀\ud83d" }), {
    ok: true,
    text: '{"a":"x\ufffdy\ufffdz😀\ufffd"}',
  });
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.integer({ min: 0xd7f0, max: 0xe010 }),
      (text, unit) => {
        const encoded = encodeValues({ a: text + String.fromCharCode(unit) + text });
        return encoded.ok && Buffer.from(encoded.text).toString() === encoded.text;
      },
    ),
  );
});

test("a member named __proto__ is written like any other", (t) => {
  t.deepEqual(encodeValues(JSON.parse('{"__proto__":{"a":1}}')), { ok: true, text: '{"__proto__":{"a":1}}' });
  t.deepEqual(encodeValues(Object.assign(Object.create(null), { a: 1 })), { ok: true, text: '{"a":1}' });
});

test("free values are written as JSON.stringify writes them", (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
      const encoded = encodeJson(value, "free", 1_000_000);
      return encoded.ok && encoded.text === JSON.stringify(value);
    }),
  );
  const holes = { a: undefined, b: [undefined], c: 1e300, d: 0.1 + 0.2, e: null };
  t.deepEqual(encodeJson(holes, "free", 1000), { ok: true, text: JSON.stringify(holes) });
  t.false(encodeJson(NaN, "free", 1000).ok);
});
