// The joules of docs/guides/battery.md are those that the model gives.
import { readFileSync } from "node:fs";
import test from "ava";
import { DAYS, joulesOfDay } from "./energy.js";

const shown = (value: number): string => Number(value.toPrecision(2)).toLocaleString("en-US");

test("the energy table of docs/guides/battery.md is what the model gives", (t) => {
  const text = readFileSync("docs/guides/battery.md", "utf8");
  for (const [use, day] of Object.entries(DAYS)) {
    const [least, most] = joulesOfDay(day);
    t.true(
      text.includes(`| ${use} | ${shown(least)} to ${shown(most)} |`),
      `${use} | ${shown(least)} to ${shown(most)}`,
    );
  }
});

test("a device that only sleeps takes the current of sleep, and each wake adds to it", (t) => {
  const [asleep] = joulesOfDay({});
  t.is(Math.round(asleep * 1000), Math.round(0.0048 * 3.3 * 86_400));
  const [one] = joulesOfDay({ wakes: { number: 1, instructions: 160e6 } });
  t.is(Math.round((one - asleep) * 1e6), Math.round(0.024 * 3.3 * 1e6));
});
