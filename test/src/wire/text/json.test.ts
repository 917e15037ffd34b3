import test from "ava";
import fc from "fast-check";
import { parseJson } from "../../../../src/wire/text/json.js";

test("what JSON holds is parsed as it is", (t) => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      const parsed = parseJson(text, 100);
      return (
        parsed.ok &&
        (text.includes("__proto__") || JSON.stringify(parsed.value) === JSON.stringify(JSON.parse(text)))
      );
    }),
  );
  t.deepEqual(parseJson(" [1] "), { ok: true, value: [1] });
});

test("what is no JSON is malformed", (t) => {
  for (const text of ["", " ", "{", "[1,]", "{'a':1}", "nul", "\ufeff{}", '{"a":1}x', "NaN", "<html>"]) {
    t.deepEqual(parseJson(text), { ok: false, reason: "malformed" }, text);
  }
});

test("32 levels are parsed and 33 are too deep, however brackets and strings mix", (t) => {
  const nested = (levels: number, inner: string): string =>
    '[{"a":'.repeat(levels / 2) + inner + "}]".repeat(levels / 2);
  t.true(parseJson(nested(32, '"[[[[{{{{\\"[[[["')).ok);
  t.deepEqual(parseJson(nested(34, "1")), { ok: false, reason: "too-deep" });
  t.deepEqual(parseJson(nested(32, "[]")), { ok: false, reason: "too-deep" });
  t.true(parseJson(`[${"[],".repeat(100)}{}]`).ok);
  t.deepEqual(parseJson("[[1]]", 1), { ok: false, reason: "too-deep" });
});

test("a bomb of brackets takes time in proportion to its length", (t) => {
  const bombs = ["[", '{"a":', '["', '"\\', "[]", '[{"é":"'];
  for (const bomb of bombs) {
    const began = process.hrtime.bigint();
    const parsed = parseJson(bomb.repeat(1_000_000));
    const ms = Number(process.hrtime.bigint() - began) / 1e6;
    t.false(parsed.ok);
    t.true(ms < 3000, `${bomb}: ${ms} ms for a million`);
  }
});

test("members named __proto__ are left out at every level, also when written with escapes", (t) => {
  const parsed = parseJson(
    '{"a":[{"__proto__":{"x":1},"b":2}],"\\u005f_proto__":{"y":1},"__pr\\u006fto__":3}',
  );
  t.deepEqual(parsed, { ok: true, value: { a: [{ b: 2 }] } });
  t.is(Object.keys((parsed as { value: object }).value).join(), "a");
  t.deepEqual(parseJson('[{"\\u005f_proto__":1}]'), { ok: true, value: [{}] });
  t.is(({} as { x?: unknown }).x, undefined);
});
