// The joules of docs/guides/energy.md follow from currents and counts.
import test from "ava";
import { CURRENTS, daysOfCell, joulesOfDay } from "./energy.js";

test("a device that only sleeps takes the current of sleep, and each wake adds to it", (t) => {
  const [asleep] = joulesOfDay({});
  t.is(Math.round(asleep * 1000), Math.round(0.005 * 3.3 * 86_400));
  const [one] = joulesOfDay({ wakes: [{ number: 1, instructions: 160e6 }] });
  t.is(Math.round((one - asleep) * 1e6), Math.round(0.023 * 3.3 * 1e6));
});

test("an upload costs joining, its network time and the bytes on the air", (t) => {
  const [asleep] = joulesOfDay({});
  const [one] = joulesOfDay({ uploads: { number: 1, networkS: 1, bytes: 54e6 / 8 } });
  const milliamps = 2 * CURRENTS.receiving[0] + CURRENTS.sending[0];
  t.is(Math.round((one - asleep) * 1e3), Math.round(milliamps * 3.3));
});

test("a cell of 2,000 mAh lasts 100 days at 20 mAh a day, less what it loses of itself", (t) => {
  const joules = 20 * 3.6 * 3.3;
  const [least, most] = daysOfCell([joules, joules]);
  t.is(Math.round(most), Math.round(2000 / (20 + (2000 * 0.01) / 30)));
  t.is(Math.round(least), Math.round(1600 / (20 + (2000 * 0.03) / 30)));
});
