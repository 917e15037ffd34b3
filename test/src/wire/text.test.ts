// What is read character by character takes and refuses what a regular expression would.
import test from "ava";
import fc from "fast-check";
import { versionNumbers } from "../../../src/agent/firmware/versions.js";
import { hostOf, isLoopback, parseTarget, type Target } from "../../../src/http/target.js";
import { checkKey, isPlainKey } from "../../../src/wire/keys.js";
import { checkToken } from "../../../src/wire/paths.js";
import * as characters from "../../../src/wire/text/characters.js";
import { parseJson } from "../../../src/wire/text/json.js";
import { longText, numberText } from "../../../src/wire/text/numbers.js";
import { parseJson as readJson } from "../../../tools/platform/core/json/json-reader.js";
import { typedTwice } from "../../../tools/platform/core/values.js";

const CONTROL = "\\u0000-\\u001f\\u007f";
const RUNS = { numRuns: 3000 };

/** Texts of these signs alone: most of them come close to what is looked for. */
const textsOf = (signs: string): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...signs), { maxLength: 14 }).map((all) => all.join(""));

/** fast-check prints the seed of a run that fails. */
const agrees = (texts: fc.Arbitrary<string>, ours: (text: string) => boolean, theirs: RegExp): void =>
  fc.assert(
    fc.property(texts, (text) => ours(text) === theirs.test(text)),
    RUNS,
  );

test("ranges and control characters are found, blanks go, and letters of ASCII change their case", (t) => {
  t.notThrows(() => {
    agrees(textsOf("09afAFgG/:@`"), (text) => characters.isMadeOf(text, characters.HEX), /^[0-9a-f]+$/i);
    agrees(fc.string({ unit: "binary" }), characters.hasControl, new RegExp(`[${CONTROL}]`));
    agrees(textsOf("\u0000\u001f \u007f~\u0080"), characters.hasControl, new RegExp(`[${CONTROL}]`));
  });
  t.false(characters.isMadeOf("abcd", characters.characters("az"), 3));
  t.is(characters.withoutBlanks(" a\r\nb\t c\u00a0\n"), "abc");
  t.is(characters.lowerCase("@AZ[Ä\u{1f600}az"), "@az[Ä\u{1f600}az");
  t.is(characters.upperCase("`az{ß\u{1f600}AZ"), "`AZ{ß\u{1f600}AZ");
});

test("keys and tokens are judged as they were", (t) => {
  const texts = fc.oneof(textsOf("aZ_-.,<>{\u007f\t é"), fc.string({ unit: "grapheme" }));
  t.notThrows(() => {
    agrees(texts, isPlainKey, /^[\w.-]{1,100}$/);
    agrees(texts, (key) => checkKey(key) !== undefined, new RegExp(`[,<>${CONTROL}]|\\{\\{|^\\s*$`));
    const tokens = fc.oneof(textsOf("aZ/\\;%. \u007f\u00a0"), fc.constantFrom(".", "..", "..."));
    const isRefused = (token: string) => token !== "" && checkToken(token) !== undefined;
    agrees(tokens, isRefused, new RegExp(`[/\\\\;%${CONTROL}]|^\\s|\\s$|^\\.\\.?$`));
  });
  t.true(isPlainKey("a".repeat(100)));
  t.false(isPlainKey("a".repeat(101)));
});

test("addresses and versions are read as they were", (t) => {
  t.notThrows(() => {
    agrees(
      fc.oneof(
        textsOf("az09.-_:[]"),
        textsOf("[:1f]").map((text) => `[${text}`),
        textsOf("a:0"),
      ),
      (text) => hostOf(text) !== undefined,
      /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/,
    );
    agrees(
      textsOf("/a%0Fg;=~").map((text) => `/${text}`),
      (path) => parseTarget(`https://a${path}`).ok,
      /^(?:\/(?:[a-z0-9._~!$&'()*+,=:@-]|%[0-9a-f]{2})+)*\/*$/i,
    );
    const names = fc.oneof(
      textsOf("0127."),
      fc.constantFrom(
        "localhost",
        ".localhost",
        "a.localhost",
        "127.0.0.1",
        "::1",
        "127.1.22.333",
        "127.0.0",
      ),
    );
    const isHere = (name: string) => isLoopback({ name } as Target);
    agrees(names, isHere, /^(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|::1)$/);
    const versions = fc.oneof(
      textsOf("v012.-+a"),
      textsOf("1.").map((text) => `v1.2.3.4.5${text}`),
    );
    const isVersion = (text: string) => versionNumbers(text) !== undefined;
    agrees(versions, isVersion, /^v?\d{1,9}(?:\.\d{1,9}){0,7}$/);
  });
});

// What is no JSON, and what is, the fuzz tests compare with the engine's own parser.
test("32 levels of JSON are parsed and 33 are too deep, and no member is called __proto__", (t) => {
  const nested = (levels: number, inner: string): string =>
    '[{"a":'.repeat(levels / 2) + inner + "}]".repeat(levels / 2);
  t.true(parseJson(nested(32, '"[[[[{{{{\\"[[[["')).ok);
  t.deepEqual(parseJson(nested(32, "[]")), { ok: false, reason: "too-deep" });
  t.true(parseJson(`[${"[],".repeat(100)}{}]`).ok);
  t.deepEqual(parseJson('{"a":[{"__proto__":{"x":1},"b":2}],"\\u005f_proto__":{"y":1}}'), {
    ok: true,
    value: { a: [{ b: 2 }] },
  });
  t.is(({} as { x?: unknown }).x, undefined);
});

test("a number leaves with 15 digits and 15 decimals at most and no exponent", (t) => {
  const cases: readonly (readonly [number, string])[] = [
    [42, "42"],
    [-0, "0"],
    [21.5, "21.5"],
    [0.1 + 0.2, "0.3"],
    [1 / 15, "0.066666666666667"],
    [2 / 3, "0.666666666666667"],
    [-2 / 3, "-0.666666666666667"],
    [100 / 3, "33.3333333333333"],
    [-123456.78912345678, "-123456.789123457"],
    [5e-7, "0.0000005"],
    [1.2345678901234568e-5, "0.000012345678901"],
    [1e-15, "0.000000000000001"],
    [1e-16, "0"],
    [-1e-16, "0"],
    [Number.MIN_VALUE, "0"],
    [0.9999999999999999, "1"],
    [2251799813685248.5, "2251799813685250"],
    [1e20 / 100, "1000000000000000000"],
  ];
  for (const [value, text] of cases) t.is(numberText(value), text);
});

test("what no 64 bits hold is refused", (t) => {
  for (const value of [2 ** 63, -(2 ** 63), 1e19, 1e300, Number.MAX_VALUE, NaN, Infinity, -Infinity]) {
    t.is(numberText(value), undefined, String(value));
  }
  t.is(numberText(2 ** 63 - 1024), "9223372036854774784");
  t.is(longText(2n ** 63n), undefined);
  t.is(longText(-(2n ** 63n) - 1n), undefined);
  t.is(longText(2n ** 63n - 1n), "9223372036854775807");
  t.is(longText(-(2n ** 63n)), "-9223372036854775808");
});

test("every number that leaves is stored as a number, and as the one that was meant", (t) => {
  const anyNumber = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -9.2e18, max: 9.2e18 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1, max: 1 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
    fc.maxSafeInteger().map((whole) => whole / 1000),
  );
  fc.assert(
    fc.property(anyNumber, (value) => {
      const text = numberText(value) ?? "refused";
      const stored = typedTwice(readJson(text));
      // Half of the 15th digit, and half a step between doubles: as one, the text is rounded once
      // more.
      const near = Math.max(5e-16, Math.abs(value) * (5e-15 + Number.EPSILON / 2));
      const [whole = "", decimals = ""] = text.replace("-", "").split(".");
      const digits = `${whole}${decimals}`.replace(/^0+/, "");
      return (
        typeof stored !== "string" &&
        /^-?\d+(\.\d+)?$/.test(text) &&
        Math.abs(Number(stored) - value) <= near &&
        decimals.length <= 15 &&
        (decimals === "" || digits.length <= 15)
      );
    }),
    { numRuns: 5000 },
  );
  t.pass();
});

test("an integer leaves as its exact value, also beyond 2^53", (t) => {
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => numberText(value) === BigInt(value).toString()));
  fc.assert(
    fc.property(fc.double({ noNaN: true, min: 2 ** 53, max: 2 ** 62 }), (value) => {
      const text = numberText(value) ?? "";
      return Number(text) === value && typedTwice(readJson(text)) === BigInt(value);
    }),
  );
  t.pass();
});
