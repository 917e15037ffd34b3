import test from "ava";
import fc from "fast-check";
import { longText, numberText } from "../../../../src/wire/text/numbers.js";
import { typeOfNumber, typeOfString } from "./typing.js";

const TABLE: readonly (readonly [literal: string, type: string, text: string])[] = [
  ["42", "LONG", "42"],
  ["-0", "LONG", "0"],
  ["42.0", "DOUBLE", "42.0"],
  ["1e3", "LONG", "1000"],
  ["1.0e3", "LONG", "1000"],
  ["1.5e3", "LONG", "1500"],
  ["100.50", "DOUBLE", "100.5"],
  ["9223372036854775807", "LONG", "9223372036854775807"],
  ["9223372036854775808", "STRING", "9223372036854775808"],
  ["1e19", "STRING", "10000000000000000000"],
  ["9999999.0", "DOUBLE", "9999999.0"],
  ["10000000.0", "LONG", "10000000"],
  ["12345678.0", "LONG", "12345678"],
  ["0.1234567890123456", "DOUBLE", "0.1234567890123456"],
  ["0.30000000000000004", "STRING", "0.30000000000000004"],
  ["0.06666666666666667", "STRING", "0.06666666666666667"],
  ["5e-7", "DOUBLE", "5.0E-7"],
  ["1e-16", "STRING", "0.00000000000000010"],
  ["1e-17", "STRING", "0.00000000000000001"],
  ["1.2345678901234567e-5", "STRING", "0.000012345678901234567"],
];

test("the model of the platform's typing agrees with the table of its behaviour", (t) => {
  for (const [literal, type, text] of TABLE)
    t.deepEqual({ ...typeOfNumber(literal) }, { type, text }, literal);
  for (const text of ["42", "007", "-5"]) t.is(typeOfString(text).type, "LONG");
  for (const text of ["42.0", "1.10", ".5"]) t.is(typeOfString(text).type, "DOUBLE");
  for (const text of ["1e3", "+5", " 42", "5.", "0x1F", "1.0.0", "", "NaN"])
    t.is(typeOfString(text).type, "STRING");
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
      const stored = typeOfNumber(text);
      // Half of the 15th digit, and half a step between doubles: as one, the text is rounded once more.
      const near = Math.max(5e-16, Math.abs(value) * (5e-15 + Number.EPSILON / 2));
      const [whole = "", decimals = ""] = text.replace("-", "").split(".");
      const digits = `${whole}${decimals}`.replace(/^0+/, "");
      return (
        stored.type !== "STRING" &&
        /^-?\d+(\.\d+)?$/.test(text) &&
        Math.abs(Number(stored.text) - value) <= near &&
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
      return Number(text) === value && typeOfNumber(text).type === "LONG";
    }),
  );
  t.pass();
});
