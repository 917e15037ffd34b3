import test from "ava";
import { parseJson } from "../../../tools/platform/core/json/json-reader.js";
import {
  isStorableKey,
  JsonText,
  javaDouble,
  NumberTooLongError,
  typedTwice,
  valueJson,
} from "../../../tools/platform/core/values.js";
import { createRig } from "./rig.js";

/** JSON literal -> type and value as the platform stores it. */
const TABLE: [literal: string, type: string, shown: string][] = [
  ["42", "LONG", "42"],
  ["-0", "LONG", "0"],
  ["42.0", "DOUBLE", "42.0"],
  ["1e3", "LONG", "1000"],
  ["1.0e3", "LONG", "1000"],
  ["1.5e3", "LONG", "1500"],
  ["100.50", "DOUBLE", "100.5"],
  ["9223372036854775807", "LONG", "9223372036854775807"],
  ["-9223372036854775808", "LONG", "-9223372036854775808"],
  ["9223372036854775808", "STRING", '"9223372036854775808"'],
  ["1e19", "STRING", '"10000000000000000000"'],
  ["1e400", "STRING", `"1${"0".repeat(400)}"`],
  ["1.5e300", "STRING", `"15${"0".repeat(299)}"`],
  ["1e-400", "STRING", `"0.${"0".repeat(399)}1"`],
  ["9999999.0", "DOUBLE", "9999999.0"],
  ["10000000.0", "LONG", "10000000"],
  ["12345678.0", "LONG", "12345678"],
  ["0.1234567890123456", "DOUBLE", "0.1234567890123456"],
  ["0.30000000000000004", "STRING", '"0.30000000000000004"'],
  ["0.06666666666666667", "STRING", '"0.06666666666666667"'],
  ["5e-7", "DOUBLE", "5.0E-7"],
  ["1e-16", "STRING", '"0.00000000000000010"'],
  ["1e-17", "STRING", '"0.00000000000000001"'],
  ["1.2345678901234567e-5", "STRING", '"0.000012345678901234567"'],
  ['"42"', "LONG", "42"],
  ['"007"', "LONG", "7"],
  ['"-5"', "LONG", "-5"],
  ['"42.0"', "DOUBLE", "42.0"],
  ['"1.10"', "DOUBLE", "1.1"],
  ['".5"', "DOUBLE", "0.5"],
  ['"1e3"', "STRING", '"1e3"'],
  ['"+5"', "STRING", '"+5"'],
  ['" 42"', "STRING", '" 42"'],
  ['"5."', "STRING", '"5."'],
  ['"0x1F"', "STRING", '"0x1F"'],
  ['"1.0.0"', "STRING", '"1.0.0"'],
  ['""', "STRING", '""'],
  ['"NaN"', "STRING", '"NaN"'],
  ["true", "BOOLEAN", "true"],
  ['"true"', "STRING", '"true"'],
  ['{"a":[1.50,null],"b":null}', "JSON", '{"a":[1.50,null]}'],
  ['[{"a":{"b":null}}]', "JSON", '[{"a":{}}]'],
  ["[]", "JSON", "[]"],
];

function typeOf(value: unknown): string {
  if (value instanceof JsonText) return "JSON";
  if (typeof value === "bigint") return "LONG";
  return { number: "DOUBLE", string: "STRING", boolean: "BOOLEAN" }[typeof value as string] ?? "nothing";
}

for (const [literal, type, shown] of TABLE) {
  const title = literal.length > 40 ? `${literal.slice(0, 40)}…` : literal;
  test(`a device's ${title} is stored as ${type}`, (t) => {
    const value = typedTwice(parseJson(literal));
    t.is(typeOf(value), type);
    t.is(value === undefined ? "" : valueJson(value), shown);
  });
}

test("null is no value", (t) => {
  t.is(typedTwice(null), undefined);
});

test("doubles are written as Java writes them", (t) => {
  const shown = [0, 1, 0.001, 0.0001, 12_345_678.5, 1e21, -2.5].map(javaDouble);
  t.deepEqual(shown, ["0.0", "1.0", "0.001", "1.0E-4", "1.23456785E7", "1.0E21", "-2.5"]);
});

test("a number that would take ten thousand digits is refused, as text it stays text", (t) => {
  t.throws(() => typedTwice(parseJson("1e99999")), { instanceOf: NumberTooLongError });
  t.throws(() => typedTwice(parseJson("1e-99999")), { instanceOf: NumberTooLongError });
  const digits = "9".repeat(20_000);
  t.is(typedTwice(digits), digits);
});

test("a key that is blank, too long or markup is not stored", (t) => {
  const keys = ["", "  ", "k".repeat(256), "<b>bold</b>", "{{x}}"];
  t.deepEqual(
    keys.map((key) => isStorableKey(key)),
    keys.map(() => false),
  );
  t.true(["k".repeat(255), "a < b", "temperature", "a.b-c d"].every(isStorableKey));
});

test("one bad key loses the whole element, and the device gets 200", (t) => {
  const { call, device } = createRig();
  t.is(call("POST", "telemetry", `[{"a":1,"${"k".repeat(256)}":2},{"b":3}]`).status, 200);
  t.deepEqual(device.series.keys(), ["b"]);
});

test("seen on a running server: other scripts' digits, a zero below zero, half a character, and which keys lose their element", (t) => {
  const { call, device } = createRig();
  call("POST", "telemetry", '{"arabic":"\u0663","zero":-0.0,"half":"\\ud800"}');
  t.deepEqual(
    ["arabic", "zero", "half"].map((key) => device.series.latest(key)?.value),
    [3n, 0, "?"],
  );
  for (const key of ["<", "a>b", "{x}", "{{x"]) {
    call("POST", "telemetry", JSON.stringify({ [key]: 1, beside: 1 }));
    t.true(device.series.has(key), key);
  }
  for (const key of ["a<b", "<b", "n\0", " ", "x".repeat(256), "{{x}}"]) {
    call("POST", "telemetry", JSON.stringify({ [key]: 1, [`beside ${key}`.slice(0, 20)]: 1 }));
    t.false(device.series.has(key), key);
    t.false(device.series.has(`beside ${key}`.slice(0, 20)), key);
  }
});

test("seen on a running server: a time below zero is kept, 1e400 is 0, the largest is not kept", (t) => {
  const { call, device } = createRig();
  for (const ts of ["-5", "1e400", "9223372036854775807"])
    t.is(call("POST", "telemetry", `{"ts":${ts},"values":{"k${ts}":1}}`).status, 200);
  t.deepEqual(
    ["k-5", "k1e400", "k9223372036854775807"].map((key) => device.series.latest(key)?.ts),
    [-5, 0, undefined],
  );
});
