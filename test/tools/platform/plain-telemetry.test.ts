import test from "ava";
import fc from "fast-check";
import { plainElements } from "../../../tools/platform/device/plain-telemetry.js";
import { lenientElements } from "../../../tools/platform/device/telemetry.js";

const key = fc.oneof(
  fc.constantFrom("temperature", "ts", "values", "__proto__", "constructor", "7", "a b", "é", "{{x}}", ""),
  fc.string(),
);
/** As many spellings as there are. */
const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc
    .tuple(fc.integer({ min: -99_999, max: 99_999 }), fc.nat(9999))
    .map(([whole, part]) => `${whole}.${part}`),
  fc.constantFrom(
    "0",
    "-0",
    "42.0",
    "1e3",
    "0.0001",
    "9999999.5",
    "12345678.5",
    "10000000",
    "9007199254740993",
  ),
  fc.constantFrom(
    "0.1234567890123456",
    "0.30000000000000004",
    "1.5E-7",
    "-0.0",
    "1e3",
    "1.50e1",
    "12345678.9012345e-10",
    "1.5E5",
    "0e99999",
    "1e400",
    "-1e19",
    "100.50",
    "007",
    "5.",
    ".5",
  ),
);
const leaf = fc.oneof(
  { weight: 4, arbitrary: number },
  fc.oneof(fc.string(), fc.constantFrom("12", "1.5", "x1e5", "true")).map((text) => JSON.stringify(text)),
  fc.constantFrom("true", "false", "null", "TRUE", "{}", '{"a":1.0}', "[1,2]", "word"),
);
const members = fc
  .array(fc.tuple(key, leaf), { maxLength: 5 })
  .map((all) => `{${all.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`);
const timed = fc
  .tuple(fc.oneof(number, fc.constant("1700000000000"), leaf), fc.oneof(members, leaf))
  .map(([ts, values]) => `{"ts":${ts},"values":${values}}`);
const element = fc.oneof(members, timed, leaf);
const document = fc.oneof(
  element,
  fc.array(element, { maxLength: 4 }).map((all) => `[${all.join(",")}]`),
);

test("telemetry that the engine's own parser reads is what the lenient one makes of it", (t) => {
  let plain = 0;
  fc.assert(
    fc.property(document, (text) => {
      const elements = plainElements(text);
      if (!elements) return;
      plain++;
      t.deepEqual(elements, lenientElements(text), text);
    }),
    { numRuns: 3000 },
  );
  t.true(plain > 300, `${plain} documents were plain`);
});

test("a usual batch is plain, and what hangs on its spelling is not", (t) => {
  const batch =
    '[{"ts":1700000000000,"values":{"temperature":21.5,"on":true,"mode":"auto"}},{"humidity":40}]';
  t.is(plainElements(batch)?.length, 2);
  for (const special of [
    "42.0",
    "1e-3",
    "1e100",
    "0e99999",
    "1e400",
    "0.12345678901234567",
    "9007199254740993",
    "[1]",
    "word",
    "TRUE",
  ])
    t.is(plainElements(`{"a":${special}}`), undefined, special);
  for (const lenient of [
    "{a:1}",
    "{'a':1}",
    '{"a":1;}',
    "",
    "5",
    "null",
    '{"7":1}',
    '{"ts":"1","values":{}}',
  ])
    t.is(plainElements(lenient), undefined, lenient);
});
