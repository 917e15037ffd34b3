// Which of two versions is the older one.
import test from "ava";
import { compareVersions } from "../../../../src/agent/firmware/admission.js";

const RISING = [
  "0",
  "0.9",
  "0.9.1",
  "v1.0.0-alpha",
  "1.0.0-rc.1",
  "1.0.0-rc.2",
  "1",
  "1.0.0.1",
  "1.2",
  "1.10.0-x",
  "1.10",
  "2",
  "10.0",
];

test("parts are compared as numbers, and what follows a hyphen comes before what has none", (t) => {
  for (const [i, one] of RISING.entries())
    for (const [k, other] of RISING.entries()) {
      const found = compareVersions(one, other);
      t.is(Math.sign(found ?? Number.NaN), Math.sign(i - k), `${one} and ${other}: ${found}`);
    }
});

test("missing parts are 0, a v before it and what follows a plus do not count", (t) => {
  for (const [one, other] of [
    ["1", "1.0"],
    ["1.0.0.0", "1"],
    ["v1.2", "1.2"],
    ["1.2+a", "1.2+b"],
    ["1.2-rc+a", "1.2-rc"],
  ] as const) {
    t.is(compareVersions(one, other), 0, `${one} and ${other}`);
    t.is(compareVersions(other, one), 0, `${other} and ${one}`);
  }
});

test("what is no version is neither older nor newer", (t) => {
  for (const none of [
    "",
    "x",
    "1.",
    ".1",
    "1..2",
    "1.x",
    "1 ",
    "V1",
    "1234567890",
    "1.2.3.4.5.6.7.8.9",
    "1-",
    undefined,
    null,
    1,
    {},
  ]) {
    t.is(compareVersions(none, "1.0"), undefined, `${none}`);
    t.is(compareVersions("1.0", none), undefined, `${none}`);
  }
  t.is(compareVersions("123456789.2.3.4.5.6.7.8", "1"), 123_456_788);
});
